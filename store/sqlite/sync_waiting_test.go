package sqlite

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// A relation that waited for a memory is tried again whichever way the memory comes. The folder it is from has a say in it as soon as
// the memory is in the folder, too; a relation that went on waiting would never be stored.
func TestARelationStopsWaitingHoweverItsMemoryComes(t *testing.T) {
	t.Parallel()
	topic := amber.TopicID("", amber.ScopeGlobal, "", "deploy", 0)
	second := farMemory(memoryID(2), far(1, 11), "second").Memory.Memory
	for name, c := range map[string]struct {
		to  amber.MemoryID
		way func(t *testing.T, s *Store)
	}{
		"as a record": {memoryID(2), func(t *testing.T, s *Store) {
			r := amber.WriteRequest{Content: second.Content, Recorded: amber.Recorded{ID: second.ID, Origin: second.Origin}}
			must.Get(s.Write(t.Context(), r))(t)
		}},
		"among records": {memoryID(2), func(t *testing.T, s *Store) {
			r := amber.WriteRequest{Content: second.Content, Recorded: amber.Recorded{ID: second.ID, Origin: second.Origin}}
			must.Get(s.WriteBatch(t.Context(), []amber.WriteRequest{{Content: "other"}, r}))(t)
		}},
		"as its topic": {topic, func(t *testing.T, s *Store) {
			must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "Mondays only", Topic: "deploy"}))(t)
		}},
		"by an import": {memoryID(2), func(t *testing.T, s *Store) {
			in := chunkOf("import", farMemory(memoryID(2), far(1, 11), "second"))
			in.Place = "import/amber"
			must.Get(s.Apply(t.Context(), in))(t)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := freshStore(t, amber.QueueOptions{})
			relation := farRelation("r", far(1, 12), 0.5)
			relation.Relation.To = c.to
			one := []amber.SyncRecord{farMemory(memoryID(1), far(1, 10), "first"), relation}
			apply(t, s, "one", one...)
			must.Equal(t, "relations that wait", count(t, s.memory, `SELECT count(*) FROM sync_waiting`), 1)
			c.way(t, s)
			must.Equal(t, "relations that wait afterwards", count(t, s.memory, `SELECT count(*) FROM sync_waiting`), 0)
			must.Equal(t, "relations before the folder has the memory", count(t, s.memory, `SELECT count(*) FROM relations`), 0)
			m := must.Get(s.Get(t.Context(), c.to))(t)
			must.Do(t, s.Exported(t.Context(), amber.ExportNote{Place: "place", Chunk: "two", Marks: []amber.SyncMark{memoryMark(m)}}))
			apply(t, s, "one", one...)
			must.Equal(t, "relations", count(t, s.memory, `SELECT count(*) FROM relations`), 1)
		})
	}
}
