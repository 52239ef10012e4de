package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/wire"
)

// How much is applied in one transaction.
const (
	batchRecords = 500
	batchBytes   = 1 << 20
)

// carrier is one import while it runs. It is the sink of a format.
type carrier struct {
	ctx    context.Context
	store  amber.Store
	format string
	tree   *foreign.Tree
	o      Options
	trust  amber.Trust
	report wire.ForeignImport

	first   bool   // nothing of the format was ever imported, so there are no links to look for
	id      string // of the import
	begun   bool   // something was written
	chunks  int    // that were applied
	ordinal int    // of the last link

	batch   []pending
	links   []amber.SyncLink // of what is stored already
	bytes   int              // of text in the batch
	session *speaking        // the session whose turns come
	related []related        // relations, until all memories are there

	moved     map[amber.MemoryID]amber.MemoryID // memories that are known under another id than that of their row
	foreseen  map[amber.MemoryID]bool           // memories that a dry run would store: whether they would be there, or deleted
	noted     map[string]bool                   // names of notes of this import
	met       map[string]bool                   // fingerprints of rows of this import
	homeless  int64                             // memories of a user without one
	elsewhere int64                             // sessions that are here from elsewhere
	unmoved   int64                             // memories of one's own that the files would move
}

// extra is what a link says about a row.
type extra struct {
	Digest  string `json:"d,omitempty"` // of what the row said; "" while it is being stored, and after an undo
	Epoch   int    `json:"e,omitempty"` // how often the record was undone
	Written string `json:"w,omitempty"` // of a note: the digest of what was stored
	Made    bool   `json:"m,omitempty"` // of a note: the import made it
	Source  string `json:"s,omitempty"` // of a note: the name of the file or folder that was imported
	Own     bool   `json:"o,omitempty"` // the files were the caller's own
	Skips   bool   `json:"k,omitempty"` // of a session: turns were skipped, and are told again
	Met     bool   `json:"n,omitempty"` // the record was here already, and is not the import's to take back
}

func (e extra) String() string {
	b, err := json.Marshal(e)
	if err != nil {
		panic("transfer: a link can be written as JSON: " + err.Error())
	}
	return string(b)
}

func parseExtra(s string) (e extra) {
	if json.Unmarshal([]byte(s), &e) != nil {
		return extra{} // as if the row had never been read
	}
	return e
}

// linked returns the newest link of a row that was not undone, else that which was undone last, and whether there is
// one. Links from files of the same owner come before those from files of others.
func (c *carrier) linked(what string, key foreign.Key) (l amber.SyncLink, e extra, found bool, err error) {
	if c.first {
		return l, e, false, nil
	}
	links, err := c.store.Sync.Links(c.ctx, amber.LinkQuery{Tool: c.format, Fingerprint: foreign.Fingerprint(c.format, what, key)})
	if err != nil || len(links) == 0 {
		return l, e, false, err
	}
	for _, any := range []bool{false, true} {
		for i := len(links) - 1; i >= 0; i-- {
			l, e = links[i], parseExtra(links[i].Extra)
			if e.Digest != "" && (any || e.Own == c.o.AsOwn) {
				return l, e, true, nil
			}
		}
	}
	l = slices.MaxFunc(links, func(a, b amber.SyncLink) int {
		switch undone := cmp.Compare(parseExtra(a.Extra).Epoch, parseExtra(b.Extra).Epoch); {
		case undone != 0:
			return undone
		case a.Version.After(b.Version):
			return 1
		}
		return -1
	})
	return l, parseExtra(l.Extra), true, nil
}

// link makes a link of a row to a record.
func (c *carrier) link(what string, key foreign.Key, ref amber.SyncRef, version amber.Origin, e extra) amber.SyncLink {
	c.ordinal++
	e.Own = c.o.AsOwn
	return amber.SyncLink{
		Tool: c.format, Chunk: c.id, Ordinal: c.ordinal, Ref: ref, Version: version,
		Fingerprint: foreign.Fingerprint(c.format, what, key), Extra: e.String(),
	}
}

// maxReported bounds what a hostile file can say in one line of a report.
const maxReported = 300

// Skip implements [foreign.Sink].
func (c *carrier) Skip(at foreign.Place, format string, args ...any) {
	c.report.Skipped++
	if len(c.report.Skips) < wire.MaxImportSkips {
		c.report.Skips = append(c.report.Skips, wire.ImportSkip{Place: at.String(), Reason: clip.Marked(fmt.Sprintf(format, args...), maxReported)})
	}
}

// Warn implements [foreign.Sink].
func (c *carrier) Warn(format string, args ...any) {
	if len(c.report.Warnings) < 100 {
		c.report.Warnings = append(c.report.Warnings, clip.Marked(fmt.Sprintf(format, args...), maxReported))
	}
}

// refuse reports that a row breaks a rule of Amber, and why.
func (c *carrier) refuse(at foreign.Place, err error) {
	reason := err.Error()
	if e, ok := errors.AsType[*amber.Error](err); ok && e.Err != nil {
		reason = e.Err.Error()
	}
	c.Skip(at, "%s", reason)
}

// look keeps track of how much was read.
func (c *carrier) look() error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	read := c.tree.BytesRead()
	if c.o.Progress != nil {
		c.o.Progress("bytes", min(read, c.report.Bytes), c.report.Bytes)
	}
	if c.o.Most > 0 && read > c.o.Most {
		return errEnough
	}
	return nil
}

const maxSamples = 5

func (c *carrier) sample(what, text string) {
	if len(c.report.Samples) < maxSamples && text != "" {
		c.report.Samples = append(c.report.Samples, clip.Marked(what+": "+text, maxReported))
	}
}

// rowKey is the key of a row in this import. A project that the caller names is part of it: the same name in files of two
// projects is two things.
func (c *carrier) rowKey(k foreign.Key) foreign.Key {
	if c.o.Project == "" {
		return k
	}
	return append(slices.Clone(k), "project "+c.o.Project)
}

// secret reports whether one of some names holds a secret, which cannot be taken out of a name.
func (c *carrier) secret(names ...string) bool {
	for _, name := range names {
		if c.o.Redact != nil && name != "" {
			if _, found := c.o.Redact.String(name); found.Total > 0 {
				return true
			}
		}
	}
	return false
}
