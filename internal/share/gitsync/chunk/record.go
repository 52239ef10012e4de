package chunk

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/wire/sign"
)

// line is any line of a chunk but the first: one record, or the signature.
type line struct {
	amber.SyncRecord
	Signature *sign.Signature `json:"signature,omitempty"`
}

// parseLine reads a line behind the header.
func parseLine(b []byte) (line, error) {
	var l line
	if err := strict(b, lineShape(), &l); err != nil {
		return line{}, err
	}
	if l.Signature != nil && l.SyncRecord != (amber.SyncRecord{}) {
		return line{}, damaged("a line is both a record and a signature")
	}
	return l, nil
}

// identity tells a record from the others of a chunk.
type identity struct {
	sort   byte
	ref    amber.SyncRef
	origin amber.Origin
}

func identityOf(r amber.SyncRecord) identity {
	i := identity{ref: r.Ref(), origin: r.Origin()}
	switch {
	case r.Erased != nil:
		i.sort = 1
	case r.Gone != nil:
		i.sort = 2
	}
	return i
}

// tally takes records in one by one, those that are read and those that are
// written by the same rules.
type tally struct {
	project string // of the header
	counts  Counts
	seen    map[identity]bool
}

// add checks a record. Errors: invalid, quota.
func (t *tally) add(r amber.SyncRecord) error {
	if t.counts.Total() == MaxRecords {
		return overQuota("the number of records", MaxRecords+1, MaxRecords)
	}
	if err := r.Check(); err != nil {
		return err
	}
	if r.Memory != nil && r.Memory.Scope == amber.ScopeUser {
		return invalid("memory %s has the scope user, which is never shared", r.Memory.ID)
	}
	if err := belongs(r, t.project); err != nil {
		return err
	}
	id := identityOf(r)
	if t.seen[id] {
		return invalid("%s %s appears twice in one version", id.ref.Scope, id.ref.ID)
	}
	if t.seen == nil {
		t.seen = map[identity]bool{}
	}
	t.seen[id] = true
	t.counts.add(r)
	return nil
}

// belongs checks that a record is of the project its header names, if it names
// one. A prompt may be of none; relations, and what tells that something is no
// more, name no project.
func belongs(r amber.SyncRecord, project string) error {
	var of string
	switch {
	case project == "":
		return nil
	case r.Session != nil:
		of = r.Session.Project
	case r.Memory != nil:
		of = r.Memory.ProjectID
	case r.Prompt != nil && r.Prompt.ProjectID != "":
		of = r.Prompt.ProjectID
	default:
		return nil
	}
	if of != project {
		ref := r.Ref()
		return invalid("%s %s belongs to the project %q, want %q as in the header", ref.Scope, ref.ID, clip.Name(of), clip.Name(project))
	}
	return nil
}
