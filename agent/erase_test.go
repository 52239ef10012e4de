package agent

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// TestEraseReachesEveryPartOfTheAgent: the eraser of the store and the method are the same. Both bring in first
// the entries that the journal holds, and name copies elsewhere.
func TestEraseReachesEveryPartOfTheAgent(t *testing.T) {
	t.Parallel()
	a := opened(t)
	ctx, store := t.Context(), a.Store()
	const text = "The vault code is 4711."
	ack := must.Get(store.LongTerm.Write(ctx, amber.WriteRequest{Content: text}))(t)
	must.Do(t, must.Err(store.Notes.WriteNote(ctx, amber.NoteWrite{Name: "codes", Content: "# Codes\n" + text})))
	must.Get(store.Documents.PutDocument(ctx, amber.DocumentWrite{Name: "seen", Document: []byte(`{"last":"` + text + `"}`)}))(t)
	frozen := must.Get(a.Snapshot(ctx, wire.SnapshotRequest{}))(t)
	say(t, a, "s1", text, "and what now?")
	report, err := store.Eraser.Erase(ctx, ack.ID)
	if err != nil || len(report.Removed) == 0 {
		t.Fatalf("removed %q, %v", report.Removed, err)
	}
	remaining := strings.Join(report.Remaining, "\n")
	for _, place := range []string{"note codes", "document seen", "snapshot " + string(frozen.ID)} {
		if !strings.Contains(remaining, place) {
			t.Errorf("the copies that remain are\n%s\nwant %q among them", remaining, place)
		}
	}
	turns, err := amber.LastTurns(ctx, store.Turns, "s1", 10)
	if err != nil || len(turns) != 1 || turns[0].Content != "and what now?" {
		t.Errorf("the turns are %+v, %v, want the one without the text", turns, err)
	}
	must.Kind(t, "the erased memory", must.Err(store.Memories.Get(ctx, ack.ID)), amber.KindNotFound)
}

// TestErasureNamesConversationsOfEarlierVersions: an earlier version sent conversations to an OpenViking server, and no
// command deletes them now.
func TestErasureNamesConversationsOfEarlierVersions(t *testing.T) {
	t.Parallel()
	a := opened(t)
	const place = "openviking/default.default/0123456789abcdef"
	for _, part := range []string{"#sessions", "#sessions/00", "#sessions/63"} {
		must.Do(t, a.sqlite.MoveIndexCursor(t.Context(), place+part, amber.IndexCursor{Fence: 1}))
	}
	ack := must.Get(a.Store().LongTerm.Write(t.Context(), amber.WriteRequest{Content: "The vault code is 4711."}))(t)
	report := must.Get(a.Store().Eraser.Erase(t.Context(), ack.ID))(t)
	must.Equal(t, "what remains", report.Remaining, []string{"conversations that an earlier version sent to an OpenViking server (docs/openviking.md): " + place})
}
