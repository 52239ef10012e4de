package sqlite

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
)

// folder represents a place: chunks that stores add and take.
type folder struct {
	name    string
	project string // of exports
	chunks  []amber.Incoming
}

// export adds what a store has for the folder, in steps of the given size, and
// returns the records.
func (f *folder) export(t *testing.T, s *Store, entries int) []amber.SyncRecord {
	t.Helper()
	ctx := t.Context()
	at := must.Get(s.SyncPlace(ctx, f.name, f.project))(t).Position
	r := amber.OutgoingRequest{Place: f.name, Project: f.project, Since: at, After: at, Entries: entries}
	var records []amber.SyncRecord
	var out amber.Outgoing
	for done := false; !done; done = out.Done {
		out = must.Get(s.Outgoing(ctx, r))(t)
		records = append(records, out.Records...)
		r.After = out.Next
	}
	for _, r := range records {
		must.NoError(t, r.Check())
	}
	note := amber.ExportNote{Place: f.name, Project: f.project, Position: out.Next}
	for _, r := range records {
		note.Marks = append(note.Marks, r.Mark())
	}
	if len(records) > 0 {
		note.Chunk = fmt.Sprintf("%s-%s-%d", f.name, f.project, len(f.chunks))
		f.chunks = append(f.chunks, amber.Incoming{
			Place: f.name, Chunk: note.Chunk, Device: out.Device, CreatedBy: "somebody", At: out.At, Trust: amber.TrustImported, Records: records,
		})
	}
	must.Do(t, s.Exported(ctx, note))
	return records
}

// take applies the chunks of the folder in an order.
func (f *folder) take(t *testing.T, s *Store, order []int) (sum amber.Applied) {
	t.Helper()
	for _, i := range order {
		a := must.Get(s.Apply(t.Context(), f.chunks[i]))(t)
		sum.Sessions += a.Sessions
		sum.Memories += a.Memories
		sum.Prompts += a.Prompts
		sum.Relations += a.Relations
		sum.Conflicts += a.Conflicts
	}
	return sum
}

func (f *folder) all() []int {
	order := make([]int, len(f.chunks))
	for i := range order {
		order[i] = i
	}
	return order
}

// apply applies records as a chunk from elsewhere.
func apply(t *testing.T, s *Store, name string, records ...amber.SyncRecord) amber.Applied {
	t.Helper()
	return must.Get(s.Apply(t.Context(), chunkOf(name, records...)))(t)
}

func chunkOf(name string, records ...amber.SyncRecord) amber.Incoming {
	return amber.Incoming{Place: "place", Chunk: name, Device: "far", Trust: amber.TrustImported, Records: records}
}

// stateOf is everything that sync makes equal, as text: a line is one fact.
// Trust is not: everybody trusts themselves most.
func stateOf(t *testing.T, s *Store) []string {
	t.Helper()
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	err := s.memory.View(t.Context(), "state", "", func(x *tx) error {
		memories, err := sqlrows.All(x.Tx, sqlrows.ScanMemory, `SELECT `+sqlrows.MemoryColumns+` FROM memories WHERE scope <> 'user'`)
		if err != nil {
			return err
		}
		for _, m := range memories {
			if !m.DeletedAt.IsZero() {
				m = sqlrows.Tombstone(m)
			}
			add("memory %s %s deleted %s: %q %q %q %q %v", m.ID, sqlrows.VersionOf(m.Origin), m.DeletedAt, m.Title, m.Content, m.Topic, m.Tags, m.Metadata)
			history, err := historyOf(x, m)
			if err != nil {
				return err
			}
			lines = append(lines, history...)
		}
		relations, err := sqlrows.All(x.Tx, sqlrows.ScanRelation, `SELECT `+sqlrows.RelationColumns+` FROM relations`)
		if err != nil {
			return err
		}
		for _, r := range relations {
			add("relation %s %s %s %s %v %s deleted %s", r.ID, r.From, r.To, r.Type, r.Strength, sqlrows.VersionOf(r.Origin), r.DeletedAt)
		}
		turns, err := sqlrows.All(x.Tx, sqlrows.ScanTurn, `SELECT `+sqlrows.TurnColumns+` FROM turns WHERE role = 'user'`)
		if err != nil {
			return err
		}
		for _, p := range turns {
			p.Trust = ""
			add("prompt %+v", p)
		}
		ids, err := sqlrows.All(x.Tx, sqlrows.ScanText, `SELECT id FROM sessions`)
		if err != nil {
			return err
		}
		for _, id := range ids {
			n, _, err := x.SyncSession(amber.SessionID(id))
			if err != nil {
				return err
			}
			n.Trust = ""
			add("session %+v", n)
		}
		erased, err := sqlrows.All(x.Tx, sqlrows.ScanText, `SELECT 'erased ' || id || ' ' || counter || '.' || clock || '.' || device FROM erased`)
		if err != nil {
			return err
		}
		gone, err := sqlrows.All(x.Tx, sqlrows.ScanText, `SELECT 'gone ' || scope || ' ' || id || ' ' || counter || '.' || clock || '.' || device FROM departed`)
		lines = slices.Concat(lines, erased, gone)
		return err
	})
	must.Do(t, err)
	slices.Sort(lines)
	return lines
}

// historyOf returns the versions and the heads of a memory. The text of a
// memory that was deleted once need not have gone everywhere.
func historyOf(x *tx, m amber.Memory) (lines []string, err error) {
	history, err := sqlrows.All(x.Tx, sqlrows.ScanRevision, sqlrows.SelectRevisions, m.ID)
	if err != nil {
		return nil, err
	}
	for _, v := range append(history, m) {
		if !v.DeletedAt.IsZero() {
			return nil, nil
		}
		lines = append(lines, fmt.Sprintf("version %s %s: %q %q", v.ID, sqlrows.VersionOf(v.Origin), v.Title, v.Content))
	}
	heads, err := x.Heads(m)
	for _, h := range heads {
		lines = append(lines, fmt.Sprintf("head %s %s", m.ID, sqlrows.VersionOf(h)))
	}
	return lines, err
}

// headOf is how long the change log is.
func headOf(t *testing.T, s *Store) int64 {
	t.Helper()
	_, seq, err := must.Get(s.Head(t.Context()))(t).Parse()
	must.Do(t, err)
	return seq
}

// names says which records there are: "memory 2.x", "erased", "gone turn".
func names(records []amber.SyncRecord) []string {
	counts := map[string]int{}
	for _, r := range records {
		switch {
		case r.Session != nil:
			counts["session "+string(r.Session.ID)]++
		case r.Memory != nil:
			counts[fmt.Sprintf("memory %s%s", r.Memory.Content, deletedMark(r.Memory.DeletedAt))]++
		case r.Prompt != nil:
			counts["prompt "+string(r.Prompt.ID)]++
		case r.Relation != nil:
			counts["relation "+r.Relation.Type+deletedMark(r.Relation.DeletedAt)]++
		case r.Erased != nil:
			counts["erased"]++
		case r.Gone != nil:
			counts["gone "+string(r.Gone.Scope)+" "+r.Gone.ID]++
		}
	}
	out := []string{}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[name]; n > 1 {
			name = fmt.Sprintf("%s x%d", name, n)
		}
		out = append(out, name)
	}
	return out
}

func deletedMark(at amber.Time) string {
	if at.IsZero() {
		return ""
	}
	return "(deleted)"
}

// far is an origin of another device.
func far(counter uint64, ms int64) amber.Origin {
	return amber.Origin{Device: "far", Counter: counter, Clock: amber.StampAt(amber.UnixMilli(ms).Time())}
}

// farMemory is a version made elsewhere.
func farMemory(id amber.MemoryID, o amber.Origin, content string, saw ...amber.Origin) amber.SyncRecord {
	at := amber.UnixMilli(cmp.Or(o.Clock.Time().UnixMilli(), 1))
	m := amber.Memory{
		ID: id, Kind: amber.WorkspaceFact, Scope: amber.ScopeGlobal, Content: content, Tags: []string{}, Metadata: map[string]string{},
		SourceRefs: []amber.SourceRef{}, Trust: amber.TrustOwn, Origin: o, Revision: int64(o.Counter), ContentDigest: amber.ContentDigest(content),
		CreatedAt: amber.UnixMilli(1), UpdatedAt: at,
	}
	return amber.SyncRecord{Memory: &amber.SyncMemory{Memory: m, Saw: saw}}
}

// farTombstone deletes a memory elsewhere.
func farTombstone(id amber.MemoryID, o amber.Origin, saw ...amber.Origin) amber.SyncRecord {
	r := farMemory(id, o, "", saw...)
	r.Memory.DeletedAt = r.Memory.UpdatedAt
	r.Memory.Memory = sqlrows.Tombstone(r.Memory.Memory)
	return r
}

// memoryID is the id of the n-th memory of a test.
func memoryID(n int) amber.MemoryID {
	return amber.MemoryID(fmt.Sprintf("0190a000-0000-7000-8000-%012d", n))
}

// inFiles reports whether a text is in memory.db or its log.
func inFiles(t *testing.T, s *Store, text string) bool {
	t.Helper()
	path := s.memory.path(must.Get(s.agent.Current())(t))
	for _, name := range []string{path, path + "-wal"} {
		b, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(text)) {
			return true
		}
	}
	return false
}
