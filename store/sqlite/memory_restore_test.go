package sqlite_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// One memory comes back as a new revision, whatever became of it; what was
// erased does not.
func TestRestoreMemoryBringsBackOneMemory(t *testing.T) {
	t.Parallel()
	s := openIn(t, t.TempDir())
	ctx := t.Context()
	ack := must.Get(s.Write(ctx, amber.WriteRequest{Content: "the first text", Scope: amber.ScopeGlobal, Tags: []string{"a"}}))(t)
	then := ack.Memory
	must.Get(s.Edit(ctx, amber.EditRequest{ID: then.ID, Content: new("another text")}))(t)
	back, err := s.RestoreMemory(ctx, then)
	if err != nil || back.Content != then.Content || back.Revision != 3 {
		t.Fatalf("after an edit it is %+v, %v", back, err)
	}
	must.Do(t, s.Delete(ctx, then.ID))
	if back, err = s.RestoreMemory(ctx, then); err != nil || back.Revision != 5 || !back.DeletedAt.IsZero() {
		t.Fatalf("after a forget it is %+v, %v", back, err)
	}
	result, err := s.Recall(ctx, amber.Query{Text: "first text"})
	if err != nil || len(result.Hits) != 1 || result.Hits[0].ID != then.ID {
		t.Fatalf("recall finds %+v, %v", result.Hits, err)
	}
	history, err := amber.All(ctx, s.History, then.ID)
	if err != nil || len(history) != 5 {
		t.Fatalf("it has %d revisions, %v; want 5", len(history), err)
	}
	must.Get(s.Erase(ctx, then.ID))(t)
	must.Kind(t, "an erased memory", must.Err(s.RestoreMemory(ctx, then)), amber.KindRefused)
}

// A memory that this file has never seen is taken under its own id, and a
// second one that says the same is not.
func TestRestoreMemoryTakesOneThatIsNotThere(t *testing.T) {
	t.Parallel()
	s, other := openIn(t, t.TempDir()), openIn(t, t.TempDir())
	ctx := t.Context()
	ack := must.Get(other.Write(ctx, amber.WriteRequest{Content: "from before", Scope: amber.ScopeGlobal}))(t)
	back, err := s.RestoreMemory(ctx, ack.Memory)
	if err != nil || back.ID != ack.Memory.ID || back.Origin.Counter != ack.Memory.Origin.Counter+1 {
		t.Fatalf("it is %+v, %v", back, err)
	}
	twin := ack.Memory
	twin.ID = "01900000-0000-7000-8000-000000000001"
	must.Kind(t, "a second one that says the same", must.Err(s.RestoreMemory(ctx, twin)), amber.KindConflict)
}
