package bundle

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/names"
)

// Contents is what a bundle says about the snapshot in it, beside its entries.
type Contents struct {
	ID          amber.SnapshotID       `json:"id"`
	Tenant      amber.TenantID         `json:"tenant"`
	Agent       amber.AgentID          `json:"agent"`
	Device      string                 `json:"device"` // that took the snapshot
	Label       string                 `json:"label"`
	CreatedAt   amber.Time             `json:"created_at"` // the instant the snapshot holds
	Incarnation string                 `json:"incarnation"`
	Generation  int64                  `json:"generation"`
	GitHead     string                 `json:"git_head"` // "refs/heads/main", or an object when detached; "" without notes
	GitOID      string                 `json:"git_oid"`  // of HEAD; "" without a commit
	Refs        []Ref                  `json:"refs"`     // in the order of their names
	Databases   []Database             `json:"databases"`
	Marks       []Mark                 `json:"marks"`
	Skipped     []amber.Skipped        `json:"skipped"`
	SkippedMore int64                  `json:"skipped_more"` // that are not listed
	Redactions  *amber.RedactionReport `json:"redactions"`   // nil: it is exact
}

// Ref is a branch or a tag.
type Ref struct {
	Name string `json:"name"`
	OID  string `json:"oid"`
}

// Database is a database among the entries.
type Database struct {
	Path          string `json:"path"` // of the entry
	Name          string `json:"name"`
	ApplicationID int64  `json:"application_id"`
	Schema        int64  `json:"schema"`
}

// Mark says how far the journal of a session was drained when the snapshot was taken.
type Mark struct {
	Key       string          `json:"key"` // its entry is journal/<key>, if it has one
	Host      string          `json:"host"`
	SessionID amber.SessionID `json:"session_id"`
	Cursor    string          `json:"cursor"`
	Drained   int64           `json:"drained"` // the last sequence that is in the databases
	Last      int64           `json:"last"`    // the last sequence that is in the snapshot
	Frames    int64           `json:"frames"`
}

const (
	// lastMilli is the last millisecond that RFC 3339 can tell, in the year 9999.
	lastMilli = 253402300799999

	maxText   = 4096 // bytes of a path, a reason, a name of a ref
	maxListed = 100_000
)

// check looks at everything that can be wrong on its own.
func (c *Contents) check() error {
	_, idErr := amber.ParseSnapshotID(string(c.ID))
	_, tenantErr := amber.ParseTenantID(string(c.Tenant))
	_, agentErr := amber.ParseAgentID(string(c.Agent))
	err := firstOf(idErr, tenantErr, agentErr, checkLine("device", c.Device, amber.MaxIDBytes),
		checkLine("label", c.Label, amber.MaxLabelBytes), checkTime(c.CreatedAt),
		checkLine("incarnation", c.Incarnation, amber.MaxIDBytes),
		checkLine("git_head", c.GitHead, maxText), checkOID("git_oid", c.GitOID))
	switch {
	case err != nil:
		return err
	case min(c.Generation, c.SkippedMore) < 0:
		return errors.New("a number below zero")
	case max(len(c.Refs), len(c.Databases), len(c.Marks), len(c.Skipped)) > maxListed:
		return fmt.Errorf("a list of more than %d", maxListed)
	}
	return c.checkLists()
}

func (c *Contents) checkLists() error {
	for i, r := range c.Refs {
		if err := firstOf(checkLine("ref", r.Name, maxText), checkOID("ref", r.OID)); err != nil {
			return err
		}
		if r.Name == "" || r.OID == "" || i > 0 && r.Name <= c.Refs[i-1].Name {
			return fmt.Errorf("ref %q is out of order, or incomplete", r.Name)
		}
	}
	for _, s := range c.Skipped {
		if err := firstOf(checkLine("part", s.Part, maxText), checkText(s.Path), checkLine("reason", s.Reason, maxText), checkText(s.Detail)); err != nil {
			return err
		}
	}
	if err := c.checkRedactions(); err != nil {
		return err
	}
	for _, d := range c.Databases {
		if err := firstOf(CheckPath(d.Path), names.CheckPath(d.Name)); err != nil {
			return fmt.Errorf("database %q: %v", d.Path, err)
		}
	}
	for _, m := range c.Marks {
		if err := firstOf(checkLine("key", m.Key, maxText), checkLine("host", m.Host, maxText),
			checkLine("session", string(m.SessionID), maxText), checkLine("cursor", m.Cursor, maxText)); err != nil {
			return err
		}
		if min(m.Drained, m.Last, m.Frames) < 0 {
			return errors.New("a mark below zero")
		}
	}
	return nil
}

func (c *Contents) checkRedactions() error {
	r := c.Redactions
	if r == nil {
		return nil
	}
	err := checkLine("policy", r.Policy, maxText)
	if max(len(r.Rules), len(r.Places), len(r.Notes)) > maxListed || min(r.Matches, r.More, r.Scanned) < 0 {
		return errors.New("the report of redactions has a negative count")
	}
	for _, x := range r.Rules {
		err = firstOf(err, checkLine("rule", x.Rule, maxText))
	}
	for _, x := range r.Places {
		err = firstOf(err, checkLine("part", x.Part, maxText), checkText(x.Path))
	}
	for _, x := range r.Notes {
		err = firstOf(err, checkText(x))
	}
	return err
}

// checkText checks text that came from a disk somewhere: it may hold anything that is valid, in bounds.
func checkText(s string) error {
	if len(s) > maxText || !utf8.ValidString(s) {
		return fmt.Errorf("a text has %d bytes or is not valid UTF-8", len(s))
	}
	return nil
}

func checkTime(t amber.Time) error {
	if ms := t.UnixMilli(); ms <= 0 || ms > lastMilli {
		return errors.New("created_at is not a time since 1970")
	}
	return nil
}

// checkLine checks text of one line, which may be empty.
func checkLine(what, s string, most int) error {
	switch {
	case len(s) > most:
		return fmt.Errorf("%s has %d bytes, the limit is %d", what, len(s), most)
	case !utf8.ValidString(s):
		return fmt.Errorf("%s is not valid UTF-8", what)
	case strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Errorf("%s contains a control character", what)
	}
	return nil
}

// checkOID checks the name of a git object, which may be empty.
func checkOID(what, s string) error {
	if s != "" && len(s) != 40 && len(s) != 64 || strings.Trim(s, hexDigits) != "" {
		return fmt.Errorf("%s is not 40 or 64 lower-case hexadecimal digits", what)
	}
	return nil
}

// checkDigest checks a SHA-256 in text.
func checkDigest(what, s string) error {
	if len(s) != 64 || strings.Trim(s, hexDigits) != "" {
		return fmt.Errorf("%s is not 64 lower-case hexadecimal digits", what)
	}
	return nil
}

const hexDigits = "0123456789abcdef"

// firstOf returns the first error that is one.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
