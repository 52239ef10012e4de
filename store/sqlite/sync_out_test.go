package sqlite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// outgoing asks for everything after a position at once.
func outgoing(t *testing.T, s *Store, r amber.OutgoingRequest) []amber.SyncRecord {
	t.Helper()
	r.After = r.Since
	var records []amber.SyncRecord
	for done := false; !done; {
		out := must.Get(s.Outgoing(t.Context(), r))(t)
		records = append(records, out.Records...)
		r.After, done = out.Next, out.Done
	}
	return records
}

func TestOutgoingNamesTheStore(t *testing.T) {
	t.Parallel()
	s, clock := freshStore(t, amber.QueueOptions{})
	save(t, s, amber.WriteRequest{Content: "a"})
	got := must.Get(s.Outgoing(t.Context(), amber.OutgoingRequest{Place: "p"}))(t)
	c := must.Get(s.agent.Current())(t)
	if got.Device != c.Device || got.Incarnation != c.Incarnation || got.At != amber.At(clock.Now()) || !got.Done {
		t.Errorf("%+v", got)
	}
	if head := must.Get(s.Head(t.Context()))(t); got.Next != head {
		t.Errorf("next %q, head %q", got.Next, head)
	}
}

// A record that came from a place does not go back there, and goes on to other places once.
func TestImportsDoNotGoBack(t *testing.T) {
	t.Parallel()
	s, clock := freshStore(t, amber.QueueOptions{})
	from, to := &folder{name: "place"}, &folder{name: "other"}
	save(t, s, amber.WriteRequest{Content: "own"})
	for _, f := range []*folder{from, to} {
		must.Equal(t, "exported to "+f.name+" first", names(f.export(t, s, 0)), []string{"memory own"})
	}
	apply(t, s, "one", farMemory(memoryID(1), far(1, 10), "a"), farMemory(memoryID(2), far(1, 10), "b"), farSession(far(1, 10), "n"), farPrompt("s", "p"))
	apply(t, s, "two", farMemory(memoryID(1), far(2, 20), "c", far(1, 10)), farRelation("r", far(1, 30), 1))
	must.Equal(t, "ranges of imports one after the other", count(t, s.memory, `SELECT count(*) FROM sync_imports`), 1)
	wantNone(t, "what goes back", names(from.export(t, s, 0)))
	want := []string{"memory a", "memory b", "memory c", "prompt t", "relation related", "session s"}
	must.Equal(t, "on goes", names(to.export(t, s, 0)), want)
	wantNone(t, "what goes once more", names(to.export(t, s, 0)))
	// An edit here of what came from there goes back, and alone, whatever the
	// clocks elsewhere say.
	ahead := far(3, amber.At(clock.Now()).UnixMilli()+1000)
	apply(t, s, "three", farMemory(memoryID(1), ahead, "d", far(2, 20)))
	to.export(t, s, 0)
	must.Get(s.Edit(t.Context(), amber.EditRequest{ID: memoryID(1), Content: new("edited")}))(t)
	for _, f := range []*folder{from, to} {
		records := f.export(t, s, 0)
		must.Equal(t, f.name, names(records), []string{"memory edited"})
		if len(records) == 1 && (len(records[0].Memory.Saw) != 1 || records[0].Memory.Saw[0] != ahead) {
			t.Errorf("it saw %v", records[0].Memory.Saw)
		}
	}
}

func TestOnlyWhatChangedIsExportedAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	f := &folder{name: "p"}
	a := save(t, s, amber.WriteRequest{Content: "a"})
	b := save(t, s, amber.WriteRequest{Content: "b"})
	must.Get(s.Edit(ctx, amber.EditRequest{ID: b, Content: new("b2")}))(t)
	for _, step := range []struct {
		name string
		do   func()
		want []string
	}{
		{"first", func() {}, []string{"memory a", "memory b", "memory b2"}},
		{"nothing", func() {}, []string{}},
		{"a duplicate", func() { save(t, s, amber.WriteRequest{Content: "a"}) }, []string{}},
		{"a relation", func() { must.Get(s.Relate(ctx, amber.Relation{From: a, To: b, Type: "related"}))(t) }, []string{"relation related"}},
		{"its removal", func() { must.Do(t, s.Unrelate(ctx, must.Get(s.Related(ctx, a))(t)[0].ID)) }, []string{"relation related(deleted)"}},
		{"two edits", func() {
			for _, text := range []string{"b3", "b4"} {
				must.Get(s.Edit(ctx, amber.EditRequest{ID: b, Content: &text}))(t)
			}
		}, []string{"memory b3", "memory b4"}},
		{"a deletion", func() { must.Do(t, s.Delete(ctx, b)) }, []string{"memory (deleted)"}},
		{"an erasure", func() { must.Get(s.Erase(ctx, a))(t) }, []string{"erased"}},
		{"a state of a session", func() { must.Get(s.SaveState(ctx, "s", []byte(`{}`), 0))(t) }, []string{}},
	} {
		step.do()
		must.Equal(t, step.name, names(f.export(t, s, 0)), step.want)
	}
}

// A memory that was edited and then deleted between two exports is exported without
// its text, and no other device takes the version before for a conflict.
func TestDeletedTextDoesNotLeave(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, _ := freshStore(t, amber.QueueOptions{})
	b, _ := freshStore(t, amber.QueueOptions{})
	f := &folder{name: "p"}
	id := save(t, a, amber.WriteRequest{
		Content: "first", Title: "title", Tags: []string{"tag"}, Metadata: map[string]string{"k": "v"},
		Scope: amber.ScopeGlobal, Identities: amber.Identities{UserID: "ada", ProjectID: "p"},
	})
	f.export(t, a, 0)
	must.Get(a.Edit(ctx, amber.EditRequest{ID: id, Content: new("second")}))(t)
	must.Do(t, a.Delete(ctx, id))
	records := f.export(t, a, 0)
	if d := cmp.Diff([]string{"memory (deleted)"}, names(records)); d != "" {
		t.Fatalf("exported (-want +got):\n%s", d)
	}
	m := records[0].Memory
	if m.Title+m.Content+m.ContentDigest+m.UserID != "" || len(m.Tags)+len(m.Metadata) > 0 || m.ProjectID != "p" {
		t.Errorf("%+v", m)
	}
	f.take(t, b, f.all())
	must.Equal(t, "conflicts", must.Get(b.SyncReport(ctx, "p"))(t).ConflictCount, 0)
}

// A version that a deletion elsewhere did not know of leaves nonetheless.
func TestAnEditThatLostToADeletionIsExported(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	f := &folder{name: "place"}
	id := save(t, s, amber.WriteRequest{Content: "first"})
	f.export(t, s, 0)
	first := must.Get(s.Get(ctx, id))(t).Origin
	must.Get(s.Edit(ctx, amber.EditRequest{ID: id, Content: new("second")}))(t)
	apply(t, s, "deletion", farTombstone(id, far(5, 10), first))
	must.Equal(t, "exported", names(f.export(t, s, 0)), []string{"memory second"})
}

func TestWhatNeverLeaves(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	private := save(t, s, amber.WriteRequest{Content: "private", Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "ada", ProjectID: "p"}})
	shared := save(t, s, amber.WriteRequest{Content: "shared"})
	must.Get(s.Relate(ctx, amber.Relation{From: shared, To: private, Type: "to"}))(t)
	must.Get(s.Relate(ctx, amber.Relation{From: private, To: shared, Type: "from"}))(t)
	must.Get(s.AppendTurn(ctx, amber.Turn{ID: "answer", SessionID: "s", Role: amber.RoleAssistant, Content: "hello"}))(t)
	must.Get(s.Edit(ctx, amber.EditRequest{ID: private, Content: new("still private")}))(t)
	must.Equal(t, "exported", names(outgoing(t, s, amber.OutgoingRequest{Place: "p"})), []string{"memory shared"})
	must.Do(t, s.Delete(ctx, private))
	must.Equal(t, "after it was deleted", names(outgoing(t, s, amber.OutgoingRequest{Place: "p"})), []string{"memory shared"})
}

// Records of one project leave with the sessions of that project they belong to,
// and every erasure.
func TestOutgoingOfOneProject(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	for id, project := range map[amber.SessionID]string{"ours": "p", "theirs": "q", "nobody's": "", "gone": "q"} {
		must.Get(s.StartSession(ctx, amber.SessionStart{ID: id, Project: project}))(t)
	}
	in := func(project string, session amber.SessionID) amber.Identities {
		return amber.Identities{ProjectID: project, SessionID: session}
	}
	ours := save(t, s, amber.WriteRequest{Content: "ours", Identities: in("p", "nobody's")})
	more := save(t, s, amber.WriteRequest{Content: "more", Identities: in("p", "not in the catalogue"), Scope: amber.ScopeProject})
	theirs := save(t, s, amber.WriteRequest{Content: "theirs", Identities: in("q", "theirs")})
	erased := save(t, s, amber.WriteRequest{Content: "erased", Identities: in("q", "")})
	must.Get(s.Relate(ctx, amber.Relation{From: ours, To: more, Type: "inside"}))(t)
	must.Get(s.Relate(ctx, amber.Relation{From: ours, To: theirs, Type: "outside"}))(t)
	must.Get(s.Erase(ctx, erased))(t)
	for id, turn := range map[amber.TurnID]amber.Turn{
		"by session": {SessionID: "ours"}, "by itself": {SessionID: "nobody's", ProjectID: "p"}, "theirs": {SessionID: "theirs"}, "went": {SessionID: "gone"},
	} {
		turn.ID, turn.Role, turn.Content = id, amber.RoleUser, "hello"
		must.Get(s.AppendTurn(ctx, turn))(t)
	}
	must.Do(t, s.DeleteSession(ctx, "gone"))
	got := outgoing(t, s, amber.OutgoingRequest{Place: "p", Project: "p"})
	want := []string{"erased", "memory more", "memory ours", "prompt by itself", "prompt by session", "relation inside", "session ours"}
	must.Equal(t, "exported", names(got), want)
	last := 0
	for i, r := range got {
		if r.Session != nil && i > last {
			t.Errorf("session %s comes after other records", r.Session.ID)
		}
		if r.Session != nil {
			last = i + 1
		}
	}
	want = []string{"gone session gone", "gone turn went"}
	all := names(outgoing(t, s, amber.OutgoingRequest{Place: "p", Project: "q"}))
	for _, w := range want {
		must.Hold(t, slices.Contains(all, w), "%q is not in %v", w, all)
	}
}

// Where the history is left out, a version names what those before it saw.
func TestLatestLeavesTheHistoryOut(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	other, _ := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Content: "1"})
	exchange := func(since amber.Position) (amber.Position, []string) {
		records := outgoing(t, s, amber.OutgoingRequest{Place: "p", Since: since, Latest: true})
		head := must.Get(s.Head(ctx))(t)
		apply(t, other, string(head), records...)
		return head, names(records)
	}
	at, _ := exchange("")
	for _, text := range []string{"2", "3", "4"} {
		must.Get(s.Edit(ctx, amber.EditRequest{ID: id, Content: &text}))(t)
	}
	_, got := exchange(at)
	must.Equal(t, "exported", got, []string{"memory 4"})
	must.Equal(t, "conflicts", must.Get(other.SyncReport(ctx, "place"))(t).ConflictCount, 0)
}

func TestPositionsOutOfPlace(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	save(t, s, amber.WriteRequest{Content: "a"})
	incarnation := must.Get(s.agent.Current())(t).Incarnation
	for name, c := range map[string]struct {
		r    amber.OutgoingRequest
		want amber.Kind
	}{
		"since of a history that was replaced": {amber.OutgoingRequest{Since: "other/1"}, amber.KindConflict},
		"after of a history that was replaced": {amber.OutgoingRequest{After: "other/1"}, amber.KindConflict},
		"past the end":                         {amber.OutgoingRequest{Since: amber.PositionAt(incarnation, 99)}, amber.KindConflict},
		"no position":                          {amber.OutgoingRequest{Since: "nonsense"}, amber.KindInvalid},
		"nor here":                             {amber.OutgoingRequest{After: "x/-1"}, amber.KindInvalid},
		"fewer than none":                      {amber.OutgoingRequest{Entries: -1}, amber.KindInvalid},
	} {
		c.r.Place = "p"
		must.Fail(s.Outgoing(t.Context(), c.r))(t, name, c.want)
	}
}

// An export goes on from any position: nothing is left out where it stops
// between two changes of one transaction.
func TestAnExportThatStopsAnywhereMissesNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	f := &folder{name: "p"}
	for i := range 3 {
		must.Get(s.WriteBatch(ctx, []amber.WriteRequest{{Content: fmt.Sprint("a", i)}, {Content: fmt.Sprint("b", i), Topic: "t"}}))(t)
	}
	must.Get(s.StartSession(ctx, amber.SessionStart{ID: "s"}))(t)
	for i := range 3 {
		must.Get(s.AppendTurn(ctx, amber.Turn{ID: amber.TurnID(fmt.Sprint("t", i)), SessionID: "s", Role: amber.RoleUser, Content: "hello"}))(t)
	}
	must.Do(t, s.DeleteSession(ctx, "s"))
	want := map[string]bool{}
	for _, name := range names(f.export(t, s, 0)) {
		want[name] = true
	}
	seqs := headOf(t, s)
	incarnation := must.Get(s.agent.Current())(t).Incarnation
	got := map[string]bool{}
	for seq := range seqs {
		since := amber.PositionAt(incarnation, seq)
		out := must.Get(s.Outgoing(ctx, amber.OutgoingRequest{Place: "q", Since: since, After: since, Entries: 1}))(t)
		for _, r := range out.Records {
			got[names([]amber.SyncRecord{r})[0]] = true
		}
	}
	must.Equal(t, "in one go and step by step", got, want)
}

func TestOutgoingStopsWhenThereIsTextEnough(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	for i := range 10 {
		save(t, s, amber.WriteRequest{Content: fmt.Sprint(i) + strings.Repeat("x", 1000)})
	}
	steps, records := 0, 0
	for after := amber.Position(""); ; steps++ {
		out := must.Get(s.Outgoing(t.Context(), amber.OutgoingRequest{Place: "p", After: after, Bytes: 2500}))(t)
		records += len(out.Records)
		if out.Done {
			break
		}
		after = out.Next
	}
	must.Hold(t, steps >= 3 && records == 10, "%d records in %d steps and one, want 10 in at least 4", records, steps)
}

// The text of a deleted memory stays here, also where its topic is written again
// before the deletion is exported; and no other device takes the versions that follow
// for a conflict.
func TestDeletedTextStaysWhenTheTopicIsWrittenAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	other, _ := freshStore(t, amber.QueueOptions{})
	f := &folder{name: "place"}
	write := func(text string) amber.MemoryID { return save(t, s, amber.WriteRequest{Content: text, Topic: "db"}) }
	id := write("shared")
	f.export(t, s, 0)
	f.take(t, other, f.all())
	write("secret 1")
	write("secret 2")
	must.Do(t, s.Delete(ctx, id))
	write("after")
	must.Equal(t, "exported", names(f.export(t, s, 0)), []string{"memory (deleted)", "memory after"})
	everything := outgoing(t, s, amber.OutgoingRequest{Place: "q"})
	must.Equal(t, "to a device that has nothing", names(everything), []string{"memory (deleted)", "memory after"})
	latest := outgoing(t, s, amber.OutgoingRequest{Place: "q", Latest: true})
	must.Equal(t, "the latest", names(latest), []string{"memory after"})
	for name, records := range map[string][]amber.SyncRecord{"steps": f.chunks[1].Records, "latest": latest} {
		if name == "latest" {
			other, _ = freshStore(t, amber.QueueOptions{})
			f.take(t, other, []int{0})
		}
		apply(t, other, name, records...)
		must.Equal(t, name+": conflicts", must.Get(other.SyncReport(ctx, "place"))(t).ConflictCount, 0)
		must.Equal(t, name+": content", must.Get(other.Get(ctx, id))(t).Content, "after")
	}
}

// A version that a deletion did not know of is exported: it is no part of what was
// deleted.
func TestTextThatTheDeletionDidNotKnowLeaves(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	near := far(2, 30)
	near.Device = "near"
	apply(t, s, "one", farMemory(memoryID(1), far(1, 10), "a"), farMemory(memoryID(1), near, "b", far(1, 10)), farTombstone(memoryID(1), far(3, 20), far(1, 10)))
	text := []string{"memory (deleted)", "memory b"}
	must.Equal(t, "exported", names(outgoing(t, s, amber.OutgoingRequest{Place: "q"})), text)
}

// A memory that moved from one project to another has versions in both. Each
// goes where it belongs, and what comes after has seen what others do not get.
func TestVersionsOfAnotherProjectStay(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	other, _ := freshStore(t, amber.QueueOptions{})
	in := func(project string, r amber.SyncRecord) amber.SyncRecord {
		r.Memory.ProjectID = project
		return r
	}
	personal := farMemory(memoryID(1), far(3, 30), "my own", far(2, 20))
	personal.Memory.Scope, personal.Memory.UserID = amber.ScopeUser, "ada"
	first := in("p", farMemory(memoryID(1), far(1, 10), "ours"))
	apply(t, s, "1", first)
	apply(t, other, "1", first)
	apply(t, s, "2", in("q", farMemory(memoryID(1), far(2, 20), "theirs", far(1, 10))))
	apply(t, s, "3", personal)
	last := in("p", farMemory(memoryID(1), far(4, 40), "ours again", far(3, 30)))
	last.Memory.Scope, last.Memory.UserID = amber.ScopeUser, "ada" // no import shares what is personal
	apply(t, s, "4", last)
	meddle(t, s.memory, `UPDATE memories SET scope = 'global', user_id = ''`)
	got := outgoing(t, s, amber.OutgoingRequest{Place: "x", Project: "p"})
	if d := cmp.Diff([]string{"memory ours", "memory ours again"}, names(got)); d != "" {
		t.Fatalf("exported (-want +got):\n%s", d)
	}
	apply(t, other, "all", got...)
	must.Equal(t, "conflicts", must.Get(other.SyncReport(t.Context(), "place"))(t).ConflictCount, 0)
	wantNone(t, "what leaves with a project it is not in any longer", names(outgoing(t, s, amber.OutgoingRequest{Place: "x", Project: "q"})))
}

// A memory goes without its session where that belongs to another project.
func TestSessionsOfAnotherProjectStay(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	must.Get(s.StartSession(ctx, amber.SessionStart{ID: "s", Project: "client/nda", Name: "negotiations"}))(t)
	save(t, s, amber.WriteRequest{Content: "fact", Identities: amber.Identities{ProjectID: "p", SessionID: "s"}})
	must.Get(s.AppendTurn(ctx, amber.Turn{ID: "t", SessionID: "s", Role: amber.RoleUser, Content: "hello", ProjectID: "p"}))(t)
	must.Equal(t, "exported", names(outgoing(t, s, amber.OutgoingRequest{Place: "x", Project: "p"})), []string{"memory fact", "prompt t"})
	must.Equal(t, "of every project", names(outgoing(t, s, amber.OutgoingRequest{Place: "x"})), []string{"memory fact", "prompt t", "session s"})
}

// A memory that was written as it was listed leaves with the next export, though
// its version is of another device and of a time before the last one.
func TestARecordLeavesWithTheNextExport(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	f := &folder{name: "place"}
	save(t, s, amber.WriteRequest{Content: "before"})
	f.export(t, s, 0)
	save(t, s, amber.WriteRequest{Content: "listed elsewhere", Recorded: amber.Recorded{ID: memoryID(1), Origin: far(3, 10), Revision: 3}})
	mine := far(2, 10)
	mine.Device = must.Get(s.agent.Current())(t).Device
	save(t, s, amber.WriteRequest{Content: "listed here", Recorded: amber.Recorded{ID: memoryID(2), Origin: mine, Revision: 2}})
	gone := amber.WriteRequest{Recorded: amber.Recorded{ID: memoryID(3), Origin: far(1, 10), DeletedAt: amber.UnixMilli(10)}}
	save(t, s, gone)
	must.Equal(t, "records", names(f.export(t, s, 0)), []string{"memory (deleted)", "memory listed elsewhere", "memory listed here"})
	must.Equal(t, "records of the next export", names(f.export(t, s, 0)), []string{})
	checkIndexes(t, s)
}

// An import of the version that a record has brought is no news.
func TestARecordAndAnImportOfItsVersionAreTheSame(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	save(t, s, amber.WriteRequest{Content: "a", Recorded: amber.Recorded{ID: memoryID(1), Origin: far(1, 10)}})
	must.Equal(t, "applied", apply(t, s, "one", farMemory(memoryID(1), far(1, 10), "a")), amber.Applied{})
	must.Equal(t, "a later version", apply(t, s, "two", farMemory(memoryID(1), far(2, 20), "b", far(1, 10))), amber.Applied{Memories: 1, Conflicts: 1})
	must.Equal(t, "content", must.Get(s.Get(t.Context(), memoryID(1)))(t).Content, "a")
}
