package sqlite

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestApplyCountsWhatIsNew(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	c := chunkOf("one", farSession(far(1, 1), "name"), farMemory(memoryID(1), far(1, 2), "a"), farMemory(memoryID(2), far(1, 2), "b"),
		farMemory(memoryID(1), far(2, 3), "c", far(1, 2)), farPrompt("s", "hello"), farRelation("r", far(1, 4), 1), erasure(memoryID(3), far(1, 1)))
	want := amber.Applied{Sessions: 1, Memories: 4, Prompts: 1, Relations: 1}
	stored := map[int]bool{}
	c.Stored = func(i int) { stored[i] = true }
	must.Equal(t, "first", must.Get(s.Apply(t.Context(), c))(t), want)
	must.Equal(t, "again", must.Get(s.Apply(t.Context(), c))(t), amber.Applied{Already: true})
	must.Equal(t, "records that were stored", len(stored), len(c.Records))
	c.Chunk = "two"
	clear(stored)
	must.Equal(t, "under another name", must.Get(s.Apply(t.Context(), c))(t), amber.Applied{})
	must.Equal(t, "records that were stored then", len(stored), 0)
	c.Chunk, c.Records[2] = "three", farMemory(memoryID(2), far(2, 5), "d", far(1, 2))
	must.Equal(t, "with one that is new", must.Get(s.Apply(t.Context(), c))(t), amber.Applied{Memories: 1})
	must.Equal(t, "records that were stored of them", stored, map[int]bool{2: true})
	must.Equal(t, "applied", must.Get(s.AppliedChunks(t.Context(), "place", []string{"one", "two", "four"}))(t), map[string]bool{"one": true, "two": true})
}

func TestApplyRefusesWhatItCannotName(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	for name, change := range map[string]func(*amber.Incoming){
		"no chunk":    func(c *amber.Incoming) { c.Chunk = "" },
		"no place":    func(c *amber.Incoming) { c.Place = "" },
		"derived":     func(c *amber.Incoming) { c.Trust = amber.TrustDerived },
		"without any": func(c *amber.Incoming) { c.Trust = "" },
	} {
		c := chunkOf("one")
		change(&c)
		must.Fail(s.Apply(t.Context(), c))(t, name, amber.KindInvalid)
	}
}

func TestImportedMemoriesAreFoundAndKeepTheirHistory(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	id := memoryID(1)
	apply(t, s, "2", farMemory(id, far(2, 20), "the comet returns", far(1, 10)))
	apply(t, s, "1", farMemory(id, far(1, 10), "the comet leaves"))
	if got := found(t, s, amber.Query{Text: "returns"}); len(got) != 1 || got[0] != id {
		t.Errorf("the newest text is not found: %v", got)
	}
	wantNone(t, "memories with an earlier text", found(t, s, amber.Query{Text: "leaves"}))
	apply(t, s, "3", farTombstone(id, far(3, 30), far(2, 20)))
	wantNone(t, "memories with a deleted text", found(t, s, amber.Query{Text: "returns"}))
	var contents []string
	var last int64
	for _, v := range must.Get(amber.All(t.Context(), s.History, id))(t) {
		contents = append(contents, v.Content)
		must.Hold(t, v.Revision > last, "revision %d comes after %d", v.Revision, last)
		last = v.Revision
	}
	must.Equal(t, "history", contents, []string{"the comet leaves", "the comet returns", ""})
	checkIndexes(t, s)
}

// A version whose number leaves no room for a next one is accepted, and can be edited.
func TestHugeRevisionLeavesRoom(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	r := farMemory(memoryID(1), far(1, 10), "a")
	r.Memory.Revision = 1<<63 - 1
	apply(t, s, "1", r)
	for _, text := range []string{"b", "c"} {
		m := must.Get(s.Edit(t.Context(), amber.EditRequest{ID: memoryID(1), Content: &text}))(t)
		must.Hold(t, m.Revision > 0, "revision %d", m.Revision)
	}
}

func TestConflictsAreCountedOnce(t *testing.T) {
	t.Parallel()
	one := memoryID(1)
	near := amber.Origin{Device: "near", Counter: 2, Clock: far(1, 30).Clock}
	for _, c := range []struct {
		name    string
		records []amber.SyncRecord
		want    []int
	}{
		{"an edit of what is known", []amber.SyncRecord{farMemory(one, far(1, 10), "a"), farMemory(one, far(2, 20), "b", far(1, 10))}, []int{0, 0}},
		{
			"two edits, one after it was beaten",
			[]amber.SyncRecord{farMemory(one, far(1, 10), "a"), farMemory(one, near, "c", far(1, 10)), farMemory(one, far(2, 20), "b", far(1, 10))},
			[]int{0, 0, 1},
		},
		{
			"an edit of one side",
			[]amber.SyncRecord{
				farMemory(one, far(1, 10), "a"), farMemory(one, near, "c", far(1, 10)), farMemory(one, far(2, 20), "b", far(1, 10)),
				farMemory(one, far(3, 40), "d", far(2, 20)),
			},
			[]int{0, 0, 1, 0},
		},
		{
			"an edit that arrives before what it saw",
			[]amber.SyncRecord{farMemory(one, far(2, 20), "b", far(1, 10)), farMemory(one, far(1, 10), "a")},
			[]int{0, 0},
		},
		{
			"an equal text",
			[]amber.SyncRecord{farMemory(one, far(1, 10), "a"), farMemory(one, near, "a")},
			[]int{0, 0},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := freshStore(t, amber.QueueOptions{})
			var got []int
			for i, r := range c.records {
				got = append(got, apply(t, s, fmt.Sprint(i), r).Conflicts)
			}
			must.Equal(t, "conflicts", got, c.want)
		})
	}
}

// A local edit has seen both sides of a conflict, and elsewhere it settles it
// too.
func TestAnEditSettlesAConflict(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, _ := freshStore(t, amber.QueueOptions{})
	b, _ := freshStore(t, amber.QueueOptions{})
	f := &folder{name: "place"}
	apply(t, a, "x", farMemory(memoryID(1), far(1, 10), "mine"))
	near := far(1, 20)
	near.Device = "near"
	apply(t, a, "y", farMemory(memoryID(1), near, "yours"))
	report := must.Get(a.SyncReport(ctx, "place"))(t)
	want := []amber.SyncConflict{{
		ID:     memoryID(1),
		Kept:   amber.SyncVersion{Origin: near, Content: "yours", UpdatedAt: amber.UnixMilli(20)},
		Others: []amber.SyncVersion{{Origin: far(1, 10), Content: "mine", UpdatedAt: amber.UnixMilli(10)}},
	}}
	if d := cmp.Diff(want, report.Conflicts, cmp.AllowUnexported(amber.Time{})); d != "" || report.ConflictCount != 1 {
		t.Errorf("%d conflicts (-want +got):\n%s", report.ConflictCount, d)
	}
	f.name = "other"
	f.export(t, a, 0)
	f.take(t, b, f.all())
	must.Equal(t, "conflicts elsewhere", must.Get(b.SyncReport(ctx, "other"))(t).ConflictCount, 1)
	must.Get(a.Edit(ctx, amber.EditRequest{ID: memoryID(1), Content: new("ours")}))(t)
	f.export(t, a, 0)
	f.take(t, b, f.all())
	for name, s := range map[string]*Store{"here": a, "elsewhere": b} {
		if got := must.Get(s.SyncReport(ctx, "other"))(t); got.ConflictCount != 0 || len(got.Conflicts) != 0 {
			t.Errorf("%s: %+v", name, got.Conflicts)
		}
	}
}

// To choose the text that every place shows anyway settles a conflict, too.
func TestAnEditThatKeepsTheTextSettlesAConflict(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	apply(t, s, "x", farMemory(memoryID(1), far(1, 10), "mine"))
	near := far(1, 20)
	near.Device = "near"
	apply(t, s, "y", farMemory(memoryID(1), near, "yours"))
	must.Equal(t, "conflicts", must.Get(s.SyncReport(ctx, ""))(t).ConflictCount, 1)
	for range 2 { // the second one changes nothing
		m := must.Get(s.Edit(ctx, amber.EditRequest{ID: memoryID(1), Content: new("yours")}))(t)
		must.Equal(t, "content", m.Content, "yours")
		must.Equal(t, "revision", m.Revision, 3)
		must.Equal(t, "conflicts", must.Get(s.SyncReport(ctx, "place"))(t).ConflictCount, 0)
	}
}

// A report without a place is about every place.
func TestAReportOfEveryPlace(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	for place, chunk := range map[string]string{"one": "a", "two": "b"} {
		must.Do(t, s.SetQuarantine(ctx, place, []amber.QuarantinedChunk{{ID: chunk, Reason: "broken", Kind: amber.KindDamaged}}))
	}
	must.Equal(t, "chunks of one place", len(must.Get(s.SyncReport(ctx, "one"))(t).Quarantined), 1)
	must.Equal(t, "chunks of every place", len(must.Get(s.SyncReport(ctx, ""))(t).Quarantined), 2)
}

func TestTrustOfWhatArrives(t *testing.T) {
	t.Parallel()
	other := far(1, 10)
	other.Device = "somebody else"
	for _, c := range []struct {
		name   string
		trust  amber.Trust // of the record
		origin amber.Origin
		chunk  amber.Trust
		want   amber.Trust
	}{
		{"own, unsigned", amber.TrustOwn, far(1, 10), amber.TrustImported, amber.TrustImported},
		{"own, signed", amber.TrustOwn, far(1, 10), amber.TrustSigned, amber.TrustSigned},
		{"own, of one's own", amber.TrustOwn, far(1, 10), amber.TrustOwn, amber.TrustOwn},
		{"own, passed on, of one's own", amber.TrustOwn, other, amber.TrustOwn, amber.TrustOwn},
		{"signed, passed on, of one's own", amber.TrustSigned, other, amber.TrustOwn, amber.TrustImported},
		{"imported, of one's own", amber.TrustImported, far(1, 10), amber.TrustOwn, amber.TrustImported},
		{"derived, of one's own", amber.TrustDerived, far(1, 10), amber.TrustOwn, amber.TrustImported},
		{"signed, edited by the signer", amber.TrustSigned, far(1, 10), amber.TrustSigned, amber.TrustSigned},
		{"signed, passed on", amber.TrustSigned, other, amber.TrustSigned, amber.TrustImported},
		{"imported, passed on", amber.TrustImported, other, amber.TrustSigned, amber.TrustImported},
		{"derived, signed", amber.TrustDerived, far(1, 10), amber.TrustSigned, amber.TrustDerived},
		{"derived, unsigned", amber.TrustDerived, far(1, 10), amber.TrustImported, amber.TrustImported},
		{"derived, passed on", amber.TrustDerived, other, amber.TrustSigned, amber.TrustImported},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := freshStore(t, amber.QueueOptions{})
			r := farMemory(memoryID(1), c.origin, "a")
			r.Memory.Trust = c.trust
			in := chunkOf("one", r)
			in.Trust = c.chunk
			must.Get(s.Apply(t.Context(), in))(t)
			must.Equal(t, "trust", must.Get(s.Get(t.Context(), memoryID(1)))(t).Trust, c.want)
		})
	}
}

func TestWhatArrivesOnceMoreSignedIsTrusted(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	for claim, vouched := range map[amber.Trust]amber.Trust{amber.TrustOwn: amber.TrustSigned, amber.TrustDerived: amber.TrustDerived} {
		id := memoryID(len(claim))
		for i, c := range []struct{ chunk, want amber.Trust }{
			{amber.TrustImported, amber.TrustImported}, {amber.TrustSigned, vouched}, {amber.TrustImported, vouched},
		} {
			r := farMemory(id, far(1, 10), "a")
			r.Memory.Trust = claim
			in := chunkOf(fmt.Sprint(claim, i), r)
			in.Trust = c.chunk
			if got := must.Get(s.Apply(t.Context(), in))(t); i > 0 && got != (amber.Applied{}) {
				t.Errorf("%s %d: %+v", claim, i, got)
			}
			must.Equal(t, fmt.Sprintf("trust of %s %d", claim, i), must.Get(s.Get(t.Context(), id))(t).Trust, c.want)
		}
	}
}

// Two texts under one origin are a forgery or a fault. Everybody who did not
// make the version chooses alike.
func TestTwoTextsOfOneVersion(t *testing.T) {
	t.Parallel()
	small, large := "a", "b" // by the digest of the content
	if amber.ContentDigest(small) > amber.ContentDigest(large) {
		small, large = large, small
	}
	for _, c := range []struct {
		name          string
		first, second string
		trust         [2]amber.Trust
		want          string
	}{
		{"larger digest later", small, large, [2]amber.Trust{amber.TrustImported, amber.TrustImported}, large},
		{"larger digest first", large, small, [2]amber.Trust{amber.TrustImported, amber.TrustImported}, large},
		{"signed later", large, small, [2]amber.Trust{amber.TrustImported, amber.TrustSigned}, small},
		{"signed first", small, large, [2]amber.Trust{amber.TrustSigned, amber.TrustImported}, small},
		{"deleted later", small, "", [2]amber.Trust{amber.TrustImported, amber.TrustImported}, small},
		{"deleted first", "", small, [2]amber.Trust{amber.TrustImported, amber.TrustImported}, small},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := freshStore(t, amber.QueueOptions{})
			for i, text := range []string{c.first, c.second} {
				in := chunkOf(fmt.Sprint(i), farMemory(memoryID(1), far(1, 10), text))
				if text == "" {
					in.Records[0] = farTombstone(memoryID(1), far(1, 10))
				}
				in.Trust = c.trust[i]
				must.Get(s.Apply(t.Context(), in))(t)
			}
			must.Equal(t, "content", must.Get(s.Get(t.Context(), memoryID(1)))(t).Content, c.want)
			must.Equal(t, "hits", len(found(t, s, amber.Query{Text: c.want})), 1)
			checkIndexes(t, s)
		})
	}
	t.Run("own", func(t *testing.T) {
		t.Parallel()
		s, _ := freshStore(t, amber.QueueOptions{})
		own := must.Get(s.Write(t.Context(), amber.WriteRequest{Content: small}))(t)
		r := farMemory(own.ID, own.Origin, large)
		in := chunkOf("one", r)
		in.Trust = amber.TrustSigned
		must.Get(s.Apply(t.Context(), in))(t)
		must.Equal(t, "content", must.Get(s.Get(t.Context(), own.ID))(t).Content, small)
	})
}

// A device that lives in the future does not take others there, and does not
// silence them.
func TestStampsFromTheFuture(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	now := amber.At(clock.Now())
	ahead := int64(10 * 365 * 24 * time.Hour / time.Millisecond)
	apply(t, s, "future", farMemory(memoryID(1), far(1, now.UnixMilli()+ahead), "from the future"))
	own := must.Get(s.Write(ctx, amber.WriteRequest{Content: "from now"}))(t)
	if lead := own.Origin.Clock.Time().UnixMilli() - now.UnixMilli(); lead < 0 || lead > amber.MaxClockLead+1 {
		t.Errorf("the clock is %d ms ahead", lead)
	}
	edited := must.Get(s.Edit(ctx, amber.EditRequest{ID: memoryID(1), Content: new("edited now")}))(t)
	must.Hold(t, edited.Origin.After(far(1, now.UnixMilli()+ahead)), "the edit does not win")
	got := must.Get(s.SyncReport(ctx, "place"))(t).Devices
	want := []amber.SyncDevice{{Device: "far", Chunks: 1, LastSync: now, DriftMS: ahead}}
	must.Equal(t, "devices", got, want, cmp.AllowUnexported(amber.Time{}))

	near, clock := freshStore(t, amber.QueueOptions{})
	minute := int64(time.Minute / time.Millisecond)
	theirs := far(1, amber.At(clock.Now()).UnixMilli()+minute)
	apply(t, near, "soon", farMemory(memoryID(1), theirs, "a minute from now"))
	if own := must.Get(near.Write(ctx, amber.WriteRequest{Content: "next"}))(t); own.Origin.Clock <= theirs.Clock {
		t.Error("the clock did not follow a device that is a minute ahead")
	}
}

func TestCounterThatJumpsIsRefusedWithItsChunk(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	const jump = amber.MaxCounterJump
	for name, r := range map[string]amber.SyncRecord{
		"memory":          farMemory(memoryID(1), far(jump+2, 10), "a"),
		"unknown memory":  farMemory(memoryID(2), far(jump+1, 10), "a"),
		"erasure":         erasure(memoryID(2), far(jump+1, 10)),
		"session":         farSession(far(jump+2, 10), "name"),
		"gone session":    gone(amber.ChangeSession, "s", far(jump+2, 10)),
		"gone prompt":     gone(amber.ChangeTurn, "t", far(jump+1, 10)),
		"waiting":         farRelation("r", far(jump+1, 10), 1),
		"second of three": farMemory(memoryID(1), far(jump+2, 10), "a"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := freshStore(t, amber.QueueOptions{})
			apply(t, s, "known", farMemory(memoryID(1), far(1, 1), "first"), farSession(far(1, 1), "first"))
			before := stateOf(t, s)
			must.Fail(s.Apply(ctx, chunkOf("jump", farMemory(memoryID(9), far(1, 1), "companion"), r)))(t, "a jump", amber.KindInvalid)
			must.Equal(t, "state", stateOf(t, s), before)
			must.Equal(t, "chunks that count as applied", len(must.Get(s.AppliedChunks(ctx, "place", []string{"jump"}))(t)), 0)
		})
	}
	t.Run("in steps", func(t *testing.T) {
		t.Parallel()
		s, _ := freshStore(t, amber.QueueOptions{})
		apply(t, s, "steps", farMemory(memoryID(1), far(jump, 1), "a"), farMemory(memoryID(1), far(2*jump, 2), "b"))
	})
}

// Erasing what came from elsewhere removes the memory with its history, and
// nothing else: its author may have written any word.
func TestErasureRemovesTheText(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	apply(t, s, "text", farMemory(memoryID(1), far(1, 10), "xyzzy plugh"), farMemory(memoryID(1), far(2, 20), "plover", far(1, 10)),
		farTombstone(memoryID(1), far(3, 30), far(2, 20)))
	f := &folder{name: "place"}
	f.export(t, s, 0)
	apply(t, s, "erasure", erasure(memoryID(1), far(4, 40)))
	must.Hold(t, !inFiles(t, s, "xyzzy") && !inFiles(t, s, "plover"), "the text is in the file")
	wantNone(t, "exported", names(f.export(t, s, 0)))
	apply(t, s, "late", farMemory(memoryID(1), far(9, 90), "xyzzy once more"))
	must.Hold(t, !inFiles(t, s, "xyzzy"), "an import brought the text back")
	must.Fail(s.Get(t.Context(), memoryID(1)))(t, "the memory", amber.KindNotFound)
}

// A home that has lost what it knew of a folder reads the folder once more. The chunk
// with an erasure may come before the one with the text: the text goes then, though what
// the home itself has made of the memory stays.
func TestErasureRemovesTheTextThatItsPlaceBringsLater(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	ctx := t.Context()
	text := []amber.SyncRecord{farMemory(memoryID(1), far(1, 10), "xyzzy plugh")}
	apply(t, s, "text", text...)
	own := "what I think of it"
	must.Get(s.Edit(ctx, amber.EditRequest{ID: memoryID(1), Content: &own}))(t)
	must.Do(t, s.memory.Update(ctx, "lose", "", func(x *tx) error { return x.ExecAll("DELETE FROM sync_held", "DELETE FROM sync_chunks") }))
	apply(t, s, "erasure", erasure(memoryID(1), far(4, 40)))
	apply(t, s, "text", text...)
	must.Hold(t, !inFiles(t, s, "xyzzy"), "the text is in the file")
	history := must.Get(amber.All(ctx, s.History, memoryID(1)))(t)
	if len(history) != 1 || history[0].Content != own {
		t.Errorf("the history is %+v, want the version that was made here", history)
	}
}

// A version that another folder is known to have stays, also where a folder that has erased the
// memory brings the same version.
func TestErasureLeavesWhatAnotherPlaceHas(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	ctx := t.Context()
	text := farMemory(memoryID(1), far(1, 10), "xyzzy plugh")
	elsewhere := chunkOf("there", text)
	elsewhere.Place = "elsewhere"
	must.Get(s.Apply(ctx, elsewhere))(t)
	apply(t, s, "erasure", erasure(memoryID(1), far(4, 40)))
	apply(t, s, "text", text)
	must.Equal(t, "the memory", must.Get(s.Get(ctx, memoryID(1)))(t).Content, "xyzzy plugh")
}

// A stranger may make a memory with the text "e" and erase it. Records that contain that
// letter stay. Where an erasing device removes such records, too, it exports each removal
// as a record of its own.
func TestErasureLeavesWhatQuotesTheText(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	must.Get(s.StartSession(ctx, amber.SessionStart{ID: "s"}))(t)
	for id, content := range map[amber.TurnID]string{"quotes": "it said e", "other": "everything"} {
		must.Get(s.AppendTurn(ctx, amber.Turn{ID: id, SessionID: "s", Role: amber.RoleUser, Content: content}))(t)
	}
	digest := save(t, s, amber.WriteRequest{Kind: amber.SessionSummary, Content: "the session", Trust: amber.TrustDerived})
	apply(t, s, "text", farMemory(memoryID(1), far(1, 10), "e"))
	apply(t, s, "erasure", erasure(memoryID(1), far(4, 40)))
	must.Equal(t, "turns", len(must.Get(amber.LastTurns(ctx, s, "s", 9))(t)), 2)
	must.Get(s.Get(ctx, digest))(t)
	(&folder{name: "place"}).export(t, s, 0)
	apply(t, s, "gone", gone(amber.ChangeTurn, "quotes", far(2, 50)))
	if got := must.Get(amber.LastTurns(ctx, s, "s", 9))(t); len(got) != 1 || got[0].ID != "other" {
		t.Errorf("turns after one is gone: %+v", got)
	}
}

// An erased memory that came as a tombstone has no text. Everything contains
// that.
func TestErasingATombstoneWithoutTextRemovesNothingElse(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	apply(t, s, "tombstones", farTombstone(memoryID(1), far(1, 10)), farTombstone(memoryID(2), far(1, 10)))
	must.Get(s.AppendTurn(ctx, amber.Turn{ID: "t", SessionID: "s", Role: amber.RoleUser, Content: "hello"}))(t)
	apply(t, s, "erasure", erasure(memoryID(1), far(2, 20)))
	must.Get(s.Erase(ctx, memoryID(2)))(t)
	must.Equal(t, "turns", len(must.Get(amber.LastTurns(ctx, s, "s", 9))(t)), 1)
}

// A device that deletes a session may not know of every prompt in it: those stay, and so
// do the answers, which were never theirs, whatever comes first.
func TestPromptsStayThatTheDeletingDeviceDidNotKnow(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	records := []amber.SyncRecord{
		gone(amber.ChangeSession, "s", far(2, 20)), gone(amber.ChangeTurn, "t", far(2, 19)), gone(amber.ChangeTurn, "mine", far(2, 30)),
	}
	for _, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}} {
		s, _ := freshStore(t, amber.QueueOptions{})
		apply(t, s, "session", farSession(far(1, 10), "name"), farPrompt("s", "known"))
		must.Get(s.AppendTurn(ctx, amber.Turn{ID: "mine", SessionID: "s", Role: amber.RoleUser, Content: "hello"}))(t)
		must.Get(s.AppendTurn(ctx, amber.Turn{ID: "answer", SessionID: "s", Role: amber.RoleAssistant, Content: "hello"}))(t)
		f := &folder{name: "place"}
		f.export(t, s, 0)
		for i, n := range order {
			apply(t, s, fmt.Sprint(n), records[n])
			want := []amber.TurnID{}
			for _, id := range []amber.TurnID{"t", "mine"} {
				if !slices.ContainsFunc(order[:i+1], func(n int) bool { return n > 0 && records[n].Gone.ID == string(id) }) {
					want = append(want, id)
				}
			}
			want = append(want, "answer") // it never left
			must.Equal(t, fmt.Sprintf("order %v, %d applied: turns", order, i+1), turnIDs(t, s, "s"), want)
		}
		must.Fail(s.Session(ctx, "s"))(t, "the session", amber.KindNotFound)
		wantNone(t, fmt.Sprintf("exported in order %v", order), names(f.export(t, s, 0)))
	}
}

// Prompts that were said here stay, those of agents too, whatever comes under their ids.
func TestPromptsOfAgentsStayAsTheyWereSaid(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	mine := must.Get(s.AppendTurn(t.Context(), amber.Turn{ID: "t", SessionID: "s", Role: amber.RoleUser, Content: "hello", Trust: amber.TrustAgent}))(t)
	(&folder{name: "place"}).export(t, s, 0)
	for i := range 8 { // digests before and after that of the prompt
		apply(t, s, fmt.Sprint(i), farPrompt("s", fmt.Sprint("another text ", i)))
	}
	must.Equal(t, "the prompt", must.Get(s.Turn(t.Context(), "t"))(t), mine)
}

func turnIDs(t *testing.T, s *Store, id amber.SessionID) []amber.TurnID {
	t.Helper()
	out := []amber.TurnID{}
	for _, turn := range must.Get(amber.LastTurns(t.Context(), s, id, 99))(t) {
		out = append(out, turn.ID)
	}
	return out
}

// A session that comes from elsewhere is not the session in which a person works here.
func TestImportedSessionsAreNotActive(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	apply(t, s, "one", farSession(far(1, 10), "name"))
	must.Fail(s.ActiveSession(ctx, "cli"))(t, "active session", amber.KindNotFound)
	must.Get(s.SelectSession(ctx, "s"))(t)
	(&folder{name: "place"}).export(t, s, 0)
	ended := farSession(far(9, 20), "name")
	ended.Session.EndedAt, ended.Session.EndReason = amber.UnixMilli(20), amber.EndEnded
	apply(t, s, "two", ended)
	must.Fail(s.ActiveSession(ctx, "cli"))(t, "a session that ended elsewhere", amber.KindNotFound)
}

// A relation id that is already that of two other memories does not stop a
// chunk.
func TestRelationIDThatIsTaken(t *testing.T) {
	t.Parallel()
	other := farRelation("r", far(2, 13), 0.5)
	other.Relation.To = memoryID(3)
	records := []amber.SyncRecord{farRelation("r", far(1, 12), 0.2), other}
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		s, _ := freshStore(t, amber.QueueOptions{})
		apply(t, s, "ends", farMemory(memoryID(1), far(1, 1), "a"), farMemory(memoryID(2), far(1, 1), "b"), farMemory(memoryID(3), far(1, 1), "c"))
		for _, i := range order {
			apply(t, s, fmt.Sprint(i), records[i])
		}
		got := must.Get(s.Related(t.Context(), memoryID(1)))(t)
		must.Hold(t, len(got) == 1 && got[0].To == memoryID(3), "order %v: %+v", order, got)
	}
}
