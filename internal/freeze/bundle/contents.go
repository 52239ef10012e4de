package bundle

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/names"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/wire"
)

// Contents is what a bundle says about the snapshot in it, beside its entries.
type Contents struct {
	ID          amber.SnapshotID      `json:"id"`
	Tenant      amber.TenantID        `json:"tenant"`
	Agent       amber.AgentID         `json:"agent"`
	Device      string                `json:"device"` // that took the snapshot
	Label       string                `json:"label"`
	CreatedAt   amber.Time            `json:"created_at"` // the instant the snapshot holds
	Incarnation string                `json:"incarnation"`
	Generation  int64                 `json:"generation"`
	GitHead     string                `json:"git_head"` // "refs/heads/main", or an object when detached; "" without notes
	GitOID      string                `json:"git_oid"`  // of HEAD; "" without a commit
	Refs        []Ref                 `json:"refs"`     // in the order of their names
	Databases   []Database            `json:"databases"`
	Marks       []Mark                `json:"marks"`
	Skipped     []wire.Skipped        `json:"skipped"`
	SkippedMore int64                 `json:"skipped_more"` // that are not listed
	Redactions  *wire.RedactionReport `json:"redactions"`   // nil: it is exact
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
	maxText   = 4096 // bytes of a path, a reason, a name of a ref
	maxListed = 100_000
)

// check looks at everything that can be wrong on its own.
func (c *Contents) check() error {
	_, idErr := amber.ParseSnapshotID(string(c.ID))
	_, tenantErr := amber.ParseTenantID(string(c.Tenant))
	_, agentErr := amber.ParseAgentID(string(c.Agent))
	err := cmp.Or(idErr, tenantErr, agentErr, envelope.CheckLine("device", c.Device, amber.MaxIDBytes),
		envelope.CheckLine("label", c.Label, wire.MaxLabelBytes), envelope.CheckTime("created_at", c.CreatedAt),
		envelope.CheckLine("incarnation", c.Incarnation, amber.MaxIDBytes),
		envelope.CheckLine("git_head", c.GitHead, maxText), envelope.CheckOID("git_oid", c.GitOID))
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
		if err := cmp.Or(envelope.CheckLine("ref", r.Name, maxText), envelope.CheckOID("ref", r.OID)); err != nil {
			return err
		}
		if r.Name == "" || r.OID == "" || i > 0 && r.Name <= c.Refs[i-1].Name {
			return fmt.Errorf("ref %q is out of order, or incomplete", r.Name)
		}
	}
	for _, s := range c.Skipped {
		if err := cmp.Or(envelope.CheckLine("part", s.Part, maxText), envelope.CheckText("a text", s.Path, maxText), envelope.CheckLine("reason", s.Reason, maxText), envelope.CheckText("a text", s.Detail, maxText)); err != nil {
			return err
		}
	}
	if err := c.checkRedactions(); err != nil {
		return err
	}
	for _, d := range c.Databases {
		if err := cmp.Or(CheckPath(d.Path), names.CheckPath(d.Name)); err != nil {
			return fmt.Errorf("database %q: %v", d.Path, err)
		}
	}
	for _, m := range c.Marks {
		if err := cmp.Or(envelope.CheckLine("key", m.Key, maxText), envelope.CheckLine("host", m.Host, maxText),
			envelope.CheckLine("session", string(m.SessionID), maxText), envelope.CheckLine("cursor", m.Cursor, maxText)); err != nil {
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
	err := envelope.CheckLine("policy", r.Policy, maxText)
	if max(len(r.Rules), len(r.Places), len(r.Notes)) > maxListed || min(r.Matches, r.More, r.Scanned) < 0 {
		return errors.New("the report of redactions has a negative count")
	}
	for _, x := range r.Rules {
		err = cmp.Or(err, envelope.CheckLine("rule", x.Rule, maxText))
	}
	for _, x := range r.Places {
		err = cmp.Or(err, envelope.CheckLine("part", x.Part, maxText), envelope.CheckText("a text", x.Path, maxText))
	}
	for _, x := range r.Notes {
		err = cmp.Or(err, envelope.CheckText("a text", x, maxText))
	}
	return err
}
