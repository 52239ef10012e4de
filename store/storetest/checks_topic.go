package storetest

import (
	"fmt"

	"github.com/amber-memory/amber"
)

func topicChecks() []check {
	return []check{
		{name: "topic/id-is-named", needs: []part{longTerm, memories}, run: topicIDs},
		{name: "topic/becomes-a-new-revision", needs: []part{longTerm, memories}, run: topicRevises},
		{name: "topic/keeps-what-is-trusted-more", needs: []part{longTerm, memories}, run: topicTrust},
		{name: "topic/equal-memory-is-deduplicated", needs: []part{longTerm, memories}, run: topicDeduplicates},
		{name: "topic/spelling-does-not-matter", needs: []part{longTerm, memories}, run: topicSpelling},
		{name: "topic/one-memory-per-project-scope-identity", needs: []part{longTerm, memories}, run: topicsApart},
		{name: "topic/deleted-memory-is-revived", needs: []part{longTerm, memories}, run: topicRevives},
		{name: "topic/erased-id-is-never-used-again", needs: []part{longTerm, memories, erasure}, run: topicEpochs},
		{name: "topic/goes-on-in-the-memory-of-a-record", needs: []part{longTerm, memories}, run: topicOfRecord},
	}
}

func topicIDs(w *world) {
	for _, scope := range amber.Scopes() {
		r := amber.WriteRequest{Scope: scope, Identities: ids(), Topic: "release plan", Content: "ship " + string(scope)}
		ack := w.write(r)
		want := amber.TopicID(r.ProjectID, scope, r.For(scope), "release-plan", 0)
		equal(ack.ID, want, "id of a topic in scope %s", scope)
		equal(ack.Topic, "release-plan", "topic in its canonical form")
		equal(w.get(want), ack.Memory, "memory read back")
	}
	ack := w.write(amber.WriteRequest{Topic: "release plan", Content: "ship nowhere"})
	equal(ack.ID, amber.TopicID("", amber.ScopeGlobal, "", "release-plan", 0), "id of a topic without identities")
}

// topicOfRecord lets a record come from a store where its topic was erased before: nothing else is here that the topic could mean.
func topicOfRecord(w *world) {
	for _, epoch := range []int{1, 3} {
		topic := fmt.Sprint("release-", epoch)
		r := amber.WriteRequest{Topic: topic, Content: "ship " + topic}
		r.ID = amber.TopicID("", amber.ScopeGlobal, "", topic, epoch)
		first := w.write(r)
		w.tick()
		second := w.write(amber.WriteRequest{Topic: topic, Content: "ship later " + topic})
		equal(second.ID, first.ID, "memory of the topic of a record")
		equal(second.Revision, 2, "revision of the topic of a record")
	}
	r := amber.WriteRequest{Topic: "both", Content: "first"}
	zero := w.write(r).ID
	r.ID, r.Content = amber.TopicID("", amber.ScopeGlobal, "", "both", 1), "second"
	w.write(r)
	equal(w.write(amber.WriteRequest{Topic: "both", Content: "third"}).ID, zero, "memory of a topic that has one here")
}

func topicRevises(w *world) {
	r := fullRequest()
	r.Topic = "deploy"
	first := w.write(r)
	w.tick()
	r.Content, r.Title, r.Summary, r.Kind, r.Trust = "Deploy on Monday.", "New window", "later", amber.ProjectFact, amber.TrustOwn
	r.Tags, r.Metadata, r.SourceRefs = []string{"new"}, map[string]string{"k": "v"}, []amber.SourceRef{{Kind: "file", Value: "x"}}
	r.SessionID, r.UserID = "session-2", ""
	second := w.write(r)
	want := first.Memory
	want.Content, want.Title, want.Summary, want.Kind, want.Trust = r.Content, r.Title, r.Summary, r.Kind, r.Trust
	want.Tags, want.Metadata, want.SourceRefs, want.Identities = r.Tags, r.Metadata, r.SourceRefs, r.Identities
	want.ContentDigest, want.Revision, want.UpdatedAt = amber.ContentDigest(r.Content), 2, w.now()
	want.Origin.Counter, want.Origin.Clock = 2, second.Origin.Clock
	hold(!second.Deduplicated, "a topic with other content is deduplicated")
	equal(second.Memory, want, "second write of the topic")
	equal(w.history(first.ID), []amber.Memory{first.Memory, want}, "history of the topic")
	r.Title = "Another title"
	equal(w.write(r).Revision, 3, "revision of a topic with another title")
	r.Kind = amber.Constraint
	equal(w.write(r).Revision, 4, "revision of a topic of another kind")
	equal(len(w.everything()), 1, "number of memories")
}

// topicTrust writes to topics with less trust than they have, and with more.
func topicTrust(w *world) {
	for i, trust := range amber.Trusts() {
		r := amber.WriteRequest{Topic: fmt.Sprint("topic ", i), Content: "first", Trust: trust, Author: amber.Author{Host: string(trust)}}
		first := w.write(r)
		for _, lower := range amber.Trusts()[i+1:] {
			r.Content, r.Trust = "of "+string(lower), lower
			refused(only(w.LongTerm.Write(w.ctx, r)), amber.KindRefused, "topic of trust %s written with trust %s", trust, lower)
		}
		equal(w.get(first.ID), first.Memory, "topic of trust %s", trust)
		r.Content, r.Trust, r.Author = "of the owner", amber.TrustOwn, amber.Author{Host: "cli"}
		own := w.write(r)
		equal([]any{own.ID, own.Revision, own.Trust, own.Author}, []any{first.ID, 2, amber.TrustOwn, r.Author}, "topic that the owner wrote")
		equal(w.history(first.ID)[0].Author, first.Author, "author of the revision before")
	}
}

func topicDeduplicates(w *world) {
	r := fullRequest()
	r.Topic = "deploy"
	first := w.write(r)
	w.tick()
	r.Tags, r.SessionID = nil, "session-2"
	again := w.write(r)
	equal(again.Identities, first.Identities, "identities")
	hold(again.Deduplicated, "an equal memory with a topic is not deduplicated")
	equal(again.Revision, first.Revision, "revision")
	equal(again.Origin, first.Origin, "origin")
	equal(again.UpdatedAt, first.UpdatedAt, "update time")
	equal(again.Tags, first.Tags, "tags")
	equal(len(w.history(first.ID)), 1, "number of revisions")
}

func topicSpelling(w *world) {
	first := w.write(amber.WriteRequest{Topic: "Release   Plan ", Content: "one"})
	second := w.write(amber.WriteRequest{Topic: "release-plan", Content: "two"})
	equal(second.ID, first.ID, "id of the topic spelled differently")
	equal(second.Revision, 2, "revision of the topic spelled differently")
}

func topicsApart(w *world) {
	seen := map[amber.MemoryID]bool{}
	write := func(scope amber.Scope, i amber.Identities, topic string) {
		ack := w.write(amber.WriteRequest{Scope: scope, Identities: i, Topic: topic, Content: "the same text"})
		hold(!seen[ack.ID], "scope %s, identities %v, topic %s share a memory with another", scope, i, topic)
		hold(!ack.Deduplicated && ack.Revision == 1, "scope %s, identities %v, topic %s is no memory of its own", scope, i, topic)
		seen[ack.ID] = true
	}
	for _, scope := range amber.Scopes() {
		write(scope, ids(), "a")
		write(scope, with(ids(), amber.ScopeProject, "project-2"), "a")
		if scope != amber.ScopeGlobal && scope != amber.ScopeProject {
			write(scope, with(ids(), scope, "another"), "a")
		}
	}
	write(amber.ScopeGlobal, ids(), "b")
	equal(len(w.everything()), len(seen), "number of memories")
}

func topicRevives(w *world) {
	first := w.write(amber.WriteRequest{Topic: "t", Content: "alive"})
	w.tick()
	must0(w.LongTerm.Delete(w.ctx, first.ID))
	w.tick()
	again := w.write(amber.WriteRequest{Topic: "t", Content: "alive"})
	hold(!again.Deduplicated, "a revived memory is deduplicated")
	equal(again.ID, first.ID, "id of the revived memory")
	equal(again.Revision, 3, "revision of the revived memory")
	hold(again.DeletedAt.IsZero(), "the revived memory is still deleted")
	equal(w.get(first.ID), again.Memory, "the revived memory read back")
	equal(w.found("alive"), []amber.MemoryID{first.ID}, "recall of the revived memory")
	revs := w.history(first.ID)
	equal(len(revs), 3, "number of revisions")
	hold(!revs[1].DeletedAt.IsZero(), "the history of a revived memory has lost its tombstone")
}

func topicEpochs(w *world) {
	r := amber.WriteRequest{Scope: amber.ScopeUser, Identities: ids(), Topic: "t", Content: "to be erased"}
	for epoch := range 3 {
		ack := w.write(r)
		equal(ack.ID, amber.TopicID(r.ProjectID, r.Scope, r.UserID, "t", epoch), "id after %d erasures", epoch)
		equal(ack.Revision, 1, "revision after %d erasures", epoch)
		hold(!ack.Deduplicated, "an erased memory counts as a duplicate")
		must(w.Eraser.Erase(w.ctx, ack.ID))
	}
}
