package storetest

import (
	"fmt"
	"time"

	"github.com/amber-memory/amber"
)

func dedupeChecks() []check {
	return []check{
		{name: "memory/dedupe-equal-memory", needs: []part{longTerm, memories}, run: dedupeEqual},
		{name: "memory/dedupe-adds-tags-and-metadata-once", needs: []part{longTerm, memories}, run: dedupeAdds},
		{name: "memory/dedupe-says-what-it-did-not-take", needs: []part{longTerm, memories}, run: dedupeLeaves},
		{name: "memory/dedupe-adds-nothing-that-is-trusted-less", needs: []part{longTerm, memories}, run: dedupeTrust},
		{name: "memory/dedupe-raises-trust", needs: []part{longTerm, memories}, run: dedupeRaises},
		{name: "memory/dedupe-adds-no-more-than-fits", needs: []part{longTerm, memories}, run: dedupeFits},
		{name: "memory/dedupe-has-no-time-window", needs: []part{longTerm, memories}, run: dedupeLater},
		{name: "memory/dedupe-needs-every-field-equal", needs: []part{longTerm, memories}, run: dedupeDiffers},
		{name: "memory/dedupe-ignores-other-identities", needs: []part{longTerm, memories}, run: dedupeOtherIdentities},
		{name: "memory/dedupe-live-memories-only", needs: []part{longTerm, memories}, run: dedupeLiveOnly},
		{name: "memory/dedupe-counts-at-the-oldest", needs: []part{longTerm}, run: dedupeOldest},
		{name: "memory/dedupe-follows-edits", needs: []part{longTerm, memories, edits}, run: dedupeFollowsEdits},
		{name: "memory/dedupe-logs-equal-digests", needs: []part{longTerm, changes}, run: dedupeLogs},
	}
}

func dedupeEqual(w *world) {
	r := fullRequest()
	first := w.write(r)
	w.tick()
	r.Tags, r.Metadata, r.SourceRefs, r.Summary = nil, nil, nil, ""
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

// dedupeAdds writes the same text with more beside it: the memory has it then,
// as one new revision, however often the write is repeated.
func dedupeAdds(w *world) {
	for _, topic := range []string{"", "moon"} {
		base := amber.WriteRequest{Content: "the moon has no air " + topic, Topic: topic, Tags: []string{"b"}, Metadata: map[string]string{"k": "1"}}
		first := w.write(base)
		w.tick()
		more := base
		more.Tags, more.Summary = []string{"c", "a"}, "no air"
		more.Metadata = map[string]string{"k": "1", "l": "2"}
		got := w.write(more)
		want := first.Memory
		want.Tags, want.Summary, want.Metadata = []string{"a", "b", "c"}, "no air", map[string]string{"k": "1", "l": "2"}
		want.Revision, want.UpdatedAt, want.DuplicateCount = 2, w.now(), 1
		want.Origin.Counter, want.Origin.Clock = 2, got.Origin.Clock
		hold(got.Deduplicated, "a write that adds to a memory is not deduplicated")
		equal(got.Memory, want, "answer to a write that adds to a memory")
		equal(got.Added, []string{"tags", "summary", "metadata.l"}, "what it says was added")
		equal(got.NotTaken, []string{}, "what it says was not taken")
		equal(w.get(first.ID), want, "memory that was added to")
		equal(w.history(first.ID), []amber.Memory{first.Memory, want}, "history of a memory that was added to")
		w.tick()
		again := w.write(more)
		want.DuplicateCount = 2
		equal(again, amber.WriteAck{Memory: want, Deduplicated: true}, "the same write again")
		again = w.write(base)
		want.DuplicateCount = 3
		equal(again, amber.WriteAck{Memory: want, Deduplicated: true}, "the first write again")
		equal(len(w.history(first.ID)), 2, "number of revisions")
	}
}

// dedupeLeaves writes the same text with fields that contradict those of the
// memory: it keeps them, and the answer says so.
func dedupeLeaves(w *world) {
	base := amber.WriteRequest{Content: "a", Summary: "short", Metadata: map[string]string{"k": "1"}}
	first := w.write(base)
	w.tick()
	r := base
	r.Summary, r.Metadata = "shorter", map[string]string{"k": "2", "j": "new"}
	r.SourceRefs = []amber.SourceRef{{Kind: "file", Value: "a.go"}}
	got := w.write(r)
	equal(got.NotTaken, []string{"summary", "metadata.k", "source_refs"}, "what it says was not taken")
	equal(got.Added, []string{"metadata.j"}, "what it says was added")
	equal(got.Summary, "short", "summary")
	equal(got.Metadata, map[string]string{"k": "1", "j": "new"}, "metadata")
	got = w.write(r)
	equal(got.NotTaken, []string{"summary", "metadata.k", "source_refs"}, "what the same write again says was not taken")
	hold(len(got.Added) == 0 && got.Revision == 2, "the same write again has made revision %d and added %v", got.Revision, got.Added)
	equal(len(w.history(first.ID)), 2, "number of revisions")
}

// dedupeTrust writes the same text with less trust, and with more.
func dedupeTrust(w *world) {
	r := amber.WriteRequest{Content: "a"}
	first := w.write(r)
	r.Tags, r.Metadata = []string{"t"}, map[string]string{"k": "v"}
	for _, trust := range amber.Trusts()[1:] {
		r.Trust = trust
		got := w.write(r)
		equal(got.NotTaken, []string{"tags", "metadata.k"}, "what a write of trust %s says was not taken", trust)
		hold(len(got.Added) == 0 && got.Revision == 1 && got.Trust == amber.TrustOwn, "a write of trust %s has changed a memory of one's own", trust)
	}
	equal(len(w.get(first.ID).Tags), 0, "number of tags")
}

// dedupeRaises writes the same text with more trust: what the owner says is the owner's, also where an agent said it
// first, and nothing that the agent put beside it is.
func dedupeRaises(w *world) {
	for i, lower := range amber.Trusts()[1:] {
		r := amber.WriteRequest{Content: fmt.Sprint("fact ", i), Trust: lower, Author: amber.Author{Host: "other"}, Summary: "ignore it", Tags: []string{"theirs"}, Metadata: map[string]string{"k": "v"}}
		found := w.write(r)
		own := w.write(amber.WriteRequest{Content: r.Content, Tags: []string{"t"}, Author: amber.Author{Host: "cli"}})
		hold(own.ID == found.ID, "trust makes two memories of one")
		equal(own.Added, []string{"trust"}, "what a write of the owner changes")
		equal([]any{own.Trust, own.Author, own.Summary, own.Revision}, []any{amber.TrustOwn, amber.Author{Host: "cli"}, "", 2}, "memory that was of trust %s", lower)
		equal(own.Tags, []string{"t"}, "tags of a memory that was of trust %s", lower)
		equal(len(own.Metadata), 0, "metadata of a memory that was of trust %s", lower)
		equal(w.get(own.ID), own.Memory, "stored memory that was of trust %s", lower)
		equal(w.history(own.ID)[0].Author, amber.Author{Host: "other"}, "author of the revision before")
	}
}

// dedupeFits writes more tags and metadata than a memory holds.
func dedupeFits(w *world) {
	full := amber.WriteRequest{Content: "a", Tags: numbered("t", amber.MaxTags), Metadata: map[string]string{}}
	for _, k := range numbered("k", amber.MaxMetadata-1) {
		full.Metadata[k] = "v"
	}
	w.write(full)
	got := w.write(amber.WriteRequest{Content: "a", Tags: []string{"one more"}, Metadata: map[string]string{"x": "1", "y": "2"}})
	equal(got.Added, []string{"metadata.x"}, "what was added to a full memory")
	equal(got.NotTaken, []string{"tags", "metadata.y"}, "what was not")
	equal([]int{len(got.Tags), len(got.Metadata)}, []int{amber.MaxTags, amber.MaxMetadata}, "number of tags and of keys")
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
	refused(only(w.Memories.Get(w.ctx, first)), amber.KindNotFound, "get the deleted memory")
}

// dedupeOldest writes a text that two topics have.
func dedupeOldest(w *world) {
	oldest := w.write(amber.WriteRequest{Topic: "b", Content: "same"}).ID
	w.tick()
	w.write(amber.WriteRequest{Topic: "a", Content: "same"})
	again := w.write(amber.WriteRequest{Content: "same"})
	hold(again.Deduplicated && again.ID == oldest, "an equal memory without a topic became %s, want %s", again.ID, oldest)
}

func dedupeFollowsEdits(w *world) {
	id := w.fact("before")
	must(w.Editor.Edit(w.ctx, amber.EditRequest{ID: id, Content: new("after")}))
	again := w.write(amber.WriteRequest{Content: "after"})
	hold(again.Deduplicated && again.ID == id, "a memory edited to this content is not its duplicate")
	other := w.write(amber.WriteRequest{Content: "before"})
	hold(!other.Deduplicated && other.ID != id, "content that was edited away still deduplicates")
}

func dedupeLogs(w *world) {
	id := w.fact("logged twice")
	digest := amber.ContentDigest("logged twice")
	equal(w.logs("a deduplicated write", func() { w.fact("logged twice") }), amber.Change{
		Op: amber.OpUpdate, Scope: amber.ChangeMemory, Key: string(id),
		OldDigest: digest, NewDigest: digest, At: w.now(),
	}, "entry of a deduplicated write")
}

// entryOf returns an entry without its position, which is the backend's.
func entryOf(c amber.Change) amber.Change {
	c.Position = ""
	return c
}
