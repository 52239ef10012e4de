package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// verifyResult is what a check has found.
type verifyResult struct {
	Deep   bool // every byte was to be read
	Report wire.VerifyReport
}

// Read reports whether every byte was read: what was asked for does not prove it. A line about something else
// than the signature and the chain counts as content, so that a new kind of line cannot make too much of a check.
func (r verifyResult) Read() bool {
	return r.Deep && !slices.ContainsFunc(r.Report.NotChecked, func(line string) bool {
		return !strings.HasPrefix(line, "signature:") && !strings.HasPrefix(line, "chain of ")
	})
}

// Looked reports whether the check looked for every object.
func (r verifyResult) Looked() bool {
	return !slices.ContainsFunc(r.Report.NotChecked, func(line string) bool { return strings.HasPrefix(line, "objects") })
}

// how says how far the check went.
func (r verifyResult) how() string {
	var parts []string
	switch {
	case r.Read():
		parts = append(parts, "every byte was read")
	case r.Looked():
		parts = append(parts, "the objects were looked for")
	}
	if n := len(r.Report.NotChecked); n > 0 {
		parts = append(parts, plural(n, "thing was", "things were")+" not checked")
	}
	return strings.Join(parts, ", ")
}

// checkedBy is what a job of this server has found out about a snapshot.
type checkedBy struct {
	URL  string
	At   amber.Time
	How  string // how far the check went
	Less bool   // it read less than it was asked to
	OK   bool
	Runs bool
}

// checked is the last check of a snapshot by this server; nil where there is none.
func (v snapshotScreens) checked(id amber.SnapshotID) *checkedBy {
	j := v.p.jobs.last(jobVerify, v.tenant, v.agent, string(id))
	if j == nil {
		return nil
	}
	p := j.progress()
	c := &checkedBy{URL: v.jobPath(j, jobVerify, string(id)), At: p.Ended, Runs: p.Ended.IsZero()}
	r, ok := p.Result.(verifyResult)
	if !c.Runs && (!ok || p.Err != nil) {
		return nil // it failed: nothing is known
	}
	c.How, c.Less, c.OK = r.how(), r.Deep && !r.Read() || !r.Looked(), ok && r.Report.OK()
	return c
}

// Says is the check in words.
func (c *checkedBy) Says() string {
	switch {
	case c.Runs:
		return "is being checked"
	case !c.OK:
		return fmt.Sprintf("DAMAGED (%s)", c.How)
	}
	return fmt.Sprintf("no damage found (%s)", c.How)
}
