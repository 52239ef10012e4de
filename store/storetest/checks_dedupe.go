package storetest

import (
	"time"

	"github.com/amber-memory/amber"
)

func dedupeChecks() []check {
	return []check{
		{name: "memory/dedupe-equal-memory", needs: []part{longTerm, memories}, run: dedupeEqual},
		{name: "memory/dedupe-has-no-time-window", needs: []part{longTerm, memories}, run: dedupeLater},
		{name: "memory/dedupe-needs-every-field-equal", needs: []part{longTerm, memories}, run: dedupeDiffers},
		{name: "memory/dedupe-ignores-other-identities", needs: []part{longTerm, memories}, run: dedupeOtherIdentities},
		{name: "memory/dedupe-live-memories-only", needs: []part{longTerm, memories}, run: dedupeLiveOnly},
		{name: "memory/dedupe-follows-edits", needs: []part{longTerm, memories, edits}, run: dedupeFollowsEdits},
		{name: "memory/dedupe-logs-equal-digests", needs: []part{longTerm, changes}, run: dedupeLogs},
	}
}

func dedupeEqual(w *world) {
	r := fullRequest()
	first := w.write(r)
	w.tick()
	r.Tags, r.Metadata, r.SourceRefs, r.Summary = []string{"late"}, nil, nil, "another summary"
	r.Title = " " + r.Title + " "
	for n := range 3 {
		again := w.write(r)
		hold(again.Deduplicated, "write %d of an equal memory is not deduplicated", n+2)
		want := first.Memory
		want.DuplicateCount = int64(n + 1)
		equal(again.Memory, want, "answer to write %d of an equal memory", n+2)
		equal(w.get(first.ID), want, "memory after write %d", n+2)
	}
	equal(len(w.history(first.ID)), 1, "number of revisions")
	equal(len(w.everything()), 1, "number of memories")
}

func dedupeLater(w *world) {
	first := w.fact("the moon has no air")
	w.clock.Advance(400 * 24 * time.Hour)
	again := w.write(amber.WriteRequest{Content: "the moon has no air"})
	hold(again.Deduplicated && again.ID == first, "an equal memory a year later is stored again")
	equal(again.CreatedAt, amber.At(start()), "creation time")
}

func dedupeDiffers(w *world) {
	base := fullRequest()
	variants := map[string]func(*amber.WriteRequest){
		"content":            func(r *amber.WriteRequest) { r.Content += "." },
		"content by a space": func(r *amber.WriteRequest) { r.Content += " " },
		"content by case":    func(r *amber.WriteRequest) { r.Content = "d" + r.Content[1:] },
		"kind":               func(r *amber.WriteRequest) { r.Kind = amber.ProjectFact },
		"scope":              func(r *amber.WriteRequest) { r.Scope = amber.ScopeUser },
		"identity":           func(r *amber.WriteRequest) { r.ProjectID = "project-2" },
		"title":              func(r *amber.WriteRequest) { r.Title = "Another" },
		"no title":           func(r *amber.WriteRequest) { r.Title = "" },
	}
	seen := map[amber.MemoryID]string{w.write(base).ID: "the base"}
	for name, change := range variants {
		r := fullRequest()
		change(&r)
		ack := w.write(r)
		hold(!ack.Deduplicated, "a memory with another %s is deduplicated", name)
		hold(seen[ack.ID] == "", "a memory with another %s has the id of %s", name, seen[ack.ID])
		seen[ack.ID] = name
	}
	equal(len(w.everything()), len(seen), "number of memories")
}

func dedupeOtherIdentities(w *world) {
	first := w.write(fullRequest())
	r := fullRequest()
	r.UserID, r.SessionID, r.WorkspaceID = "user-2", "", "workspace-2"
	again := w.write(r)
	hold(again.Deduplicated && again.ID == first.ID, "identities that do not bind the scope make another memory")
	equal(again.Identities, first.Identities, "identities of the first write")
}

func dedupeLiveOnly(w *world) {
	first := w.fact("short lived")
	must0(w.LongTerm.Delete(w.ctx, first))
	again := w.write(amber.WriteRequest{Content: "short lived"})
	hold(!again.Deduplicated, "a deleted memory counts as a duplicate")
	hold(again.ID != first, "a deleted memory without a topic came back")
	_, err := w.Memories.Get(w.ctx, first)
	refused(err, amber.KindNotFound, "get the deleted memory")
}

func dedupeFollowsEdits(w *world) {
	id := w.fact("before")
	must(w.Editor.Edit(w.ctx, amber.EditRequest{ID: id, Content: ptr("after")}))
	again := w.write(amber.WriteRequest{Content: "after"})
	hold(again.Deduplicated && again.ID == id, "a memory edited to this content is not its duplicate")
	other := w.write(amber.WriteRequest{Content: "before"})
	hold(!other.Deduplicated && other.ID != id, "content that was edited away still deduplicates")
}

func dedupeLogs(w *world) {
	id := w.fact("logged twice")
	digest := amber.ContentDigest("logged twice")
	got := w.changed(func() { w.fact("logged twice") })
	equal(len(got), 1, "entries of a deduplicated write")
	equal(entryOf(got[0]), amber.Change{
		Op: amber.OpUpdate, Scope: amber.ChangeMemory, Key: string(id),
		OldDigest: digest, NewDigest: digest, At: w.now(),
	}, "entry of a deduplicated write")
}

// entryOf returns an entry without its position, which is the backend's.
func entryOf(c amber.Change) amber.Change {
	c.Position = ""
	return c
}
