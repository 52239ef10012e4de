package sqlite

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// A person may say of records that they are their own: see Trust of
// [amber.Incoming].

// ownChunk is a chunk whose records the person at this device calls their own.
func ownChunk(name string, records ...amber.SyncRecord) amber.Incoming {
	c := chunkOf(name, records...)
	c.Trust = amber.TrustOwn
	return c
}

func applyOwn(t *testing.T, s *Store, name string, records ...amber.SyncRecord) amber.Applied {
	t.Helper()
	return must.Get(s.Apply(t.Context(), ownChunk(name, records...)))(t)
}

// trusts returns what the store trusts memory 1, session s and the prompt t with,
// and as what the session and the prompt are stored.
func trusts(t *testing.T, s *Store) []string {
	t.Helper()
	ctx := t.Context()
	turns := must.Get(amber.LastTurns(ctx, s, "s", 9))(t)
	must.Equal(t, "prompts", len(turns), 1)
	out := []string{
		string(must.Get(s.Get(ctx, memoryID(1)))(t).Trust), string(must.Get(s.Session(ctx, "s"))(t).Trust), string(turns[0].Trust),
	}
	for _, query := range []string{`SELECT trust = 'own' FROM sessions`, `SELECT trust = 'own' FROM turns`} {
		out = append(out, fmt.Sprint(count(t, s.memory, query) == 1))
	}
	return out
}

func everything() []amber.SyncRecord {
	return []amber.SyncRecord{farSession(far(1, 10), "work"), farMemory(memoryID(1), far(1, 10), "a"), farPrompt("s", "hello")}
}

func TestOwnRecordsAreStoredAsOwn(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	applyOwn(t, s, "one", everything()...)
	must.Equal(t, "trust", trusts(t, s), []string{"own", "", "", "true", "true"})
	checkIndexes(t, s)
}

func TestOwnRecordsTwiceAreANoOp(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	must.Equal(t, "first", applyOwn(t, s, "one", everything()...), amber.Applied{Sessions: 1, Memories: 1, Prompts: 1})
	before, head := stateOf(t, s), headOf(t, s)
	must.Equal(t, "the same chunk", applyOwn(t, s, "one", everything()...), amber.Applied{Already: true})
	must.Equal(t, "in another chunk", applyOwn(t, s, "two", everything()...), amber.Applied{})
	must.Equal(t, "as imported ones", apply(t, s, "three", everything()...), amber.Applied{})
	must.Equal(t, "state", stateOf(t, s), before)
	must.Equal(t, "entries of the change log", headOf(t, s), head)
	must.Equal(t, "trust", trusts(t, s), []string{"own", "", "", "true", "true"})
}

// Records that came as imported ones become own when a person says so later. A
// session keeps its trust until its next version.
func TestImportedRecordsBecomeOwn(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	apply(t, s, "one", everything()...)
	must.Equal(t, "trust before", trusts(t, s), []string{"imported", "imported", "imported", "false", "false"})
	applyOwn(t, s, "two", everything()...)
	must.Equal(t, "trust", trusts(t, s), []string{"own", "imported", "", "false", "true"})
	applyOwn(t, s, "three", farSession(far(2, 20), "work"))
	must.Equal(t, "trust of the next version", trusts(t, s), []string{"own", "", "", "true", "true"})
}

// The place keeps its say in what came from it.
func TestALaterVersionOfThePlaceReplacesAnOwnOne(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	applyOwn(t, s, "one", everything()...)
	got := applyOwn(t, s, "two", farMemory(memoryID(1), far(2, 20), "b", far(1, 10)), farSession(far(2, 20), "work goes on"))
	must.Equal(t, "applied", got, amber.Applied{Sessions: 1, Memories: 1})
	m := must.Get(s.Get(ctx, memoryID(1)))(t)
	must.Hold(t, m.Content == "b" && m.Revision == 2 && m.Trust == amber.TrustOwn, "memory %+v", m)
	must.Equal(t, "versions", len(must.Get(amber.All(ctx, s.History, memoryID(1)))(t)), 2)
	must.Equal(t, "session", must.Get(s.Session(ctx, "s"))(t).Name, "work goes on")
	applyOwn(t, s, "three", farTombstone(memoryID(1), far(3, 30), far(2, 20)))
	must.Fail(s.Get(ctx, memoryID(1)))(t, "a memory that its place deleted", amber.KindNotFound)
}

func TestAnErasureAtThePlaceRemovesAnOwnRecordOfIt(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	applyOwn(t, s, "one", everything()...)
	elsewhere := ownChunk("two", erasure(memoryID(1), far(2, 20)))
	elsewhere.Place = "another place"
	must.Equal(t, "elsewhere", must.Get(s.Apply(t.Context(), elsewhere))(t), amber.Applied{})
	must.Equal(t, "at the place", applyOwn(t, s, "three", erasure(memoryID(1), far(2, 20))), amber.Applied{Memories: 1})
	must.Fail(s.Get(t.Context(), memoryID(1)))(t, "an erased memory", amber.KindNotFound)
}

// Another place that has the version too gets no say in it.
func TestAnotherPlaceHasNoSayInAnOwnRecord(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	applyOwn(t, s, "one", everything()...)
	c := chunkOf("two", everything()...)
	c.Place = "another place"
	must.Equal(t, "the same version", must.Get(s.Apply(t.Context(), c))(t), amber.Applied{})
	c.Chunk, c.Records = "three", []amber.SyncRecord{farMemory(memoryID(1), far(2, 20), "b", far(1, 10)), farSession(far(2, 20), "taken")}
	must.Equal(t, "a later version", must.Get(s.Apply(t.Context(), c))(t), amber.Applied{Memories: 1, Conflicts: 1})
	must.Equal(t, "content", must.Get(s.Get(t.Context(), memoryID(1)))(t).Content, "a")
	must.Equal(t, "name", must.Get(s.Session(t.Context(), "s"))(t).Name, "work")
}

func TestALocalEditOfAnOwnRecordConflictsWithItsPlace(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, trust := range []amber.Trust{amber.TrustImported, amber.TrustOwn} {
		s, _ := freshStore(t, amber.QueueOptions{})
		first := ownChunk("one", everything()...)
		first.Trust = trust
		must.Get(s.Apply(ctx, first))(t)
		must.Get(s.Edit(ctx, amber.EditRequest{ID: memoryID(1), Content: new("edited here")}))(t)
		must.Get(s.RenameSession(ctx, "s", "renamed here"))(t)
		second := ownChunk("two", farMemory(memoryID(1), far(9, 20), "b", far(1, 10)), farSession(far(9, 20), "work goes on"))
		second.Trust = trust
		must.Equal(t, string(trust), must.Get(s.Apply(ctx, second))(t), amber.Applied{Memories: 1, Conflicts: 1})
		must.Equal(t, "content", must.Get(s.Get(ctx, memoryID(1)))(t).Content, "edited here")
		must.Equal(t, "name", must.Get(s.Session(ctx, "s"))(t).Name, "renamed here")
		must.Equal(t, "conflicts", must.Get(s.SyncReport(ctx, "place"))(t).ConflictCount, 1)
	}
}

// Two texts of one version: the one that a person called own stays.
func TestAForgeryDoesNotReplaceAnOwnRecord(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	applyOwn(t, s, "one", everything()...)
	for i := range 8 { // some of the digests are smaller, some larger
		forged := []amber.SyncRecord{farMemory(memoryID(1), far(1, 10), fmt.Sprint("forged ", i)), farPrompt("s", fmt.Sprint("forged ", i))}
		must.Equal(t, "forged", apply(t, s, fmt.Sprint("forged ", i), forged...), amber.Applied{})
	}
	must.Equal(t, "content", must.Get(s.Get(t.Context(), memoryID(1)))(t).Content, "a")
}

func TestOwnRecordsThatClaimThisDeviceAreImported(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for own, want := range map[bool][2]amber.Trust{false: {amber.TrustImported, amber.TrustImported}, true: {amber.TrustOwn, ""}} {
		s, _ := freshStore(t, amber.QueueOptions{})
		mine := far(1, 10)
		mine.Device = must.Get(s.agent.Current())(t).Device
		c := ownChunk("one", farMemory(memoryID(1), mine, "a"), farSession(mine, "work"))
		c.Own = own
		must.Get(s.Apply(ctx, c))(t)
		got := [2]amber.Trust{must.Get(s.Get(ctx, memoryID(1)))(t).Trust, must.Get(s.Session(ctx, "s"))(t).Trust}
		must.Equal(t, fmt.Sprint("own key ", own), got, want)
	}
}

// Records that a person called own go on to other places, and not back.
func TestOwnRecordsGoOnAndNotBack(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	applyOwn(t, s, "one", everything()...)
	must.Equal(t, "back", len(outgoing(t, s, amber.OutgoingRequest{Place: "place"})), 0)
	must.Equal(t, "on", names(outgoing(t, s, amber.OutgoingRequest{Place: "other"})), []string{"memory a", "prompt t", "session s"})
}
