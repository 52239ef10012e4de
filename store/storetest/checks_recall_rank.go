package storetest

import (
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
)

func recallRankChecks() []check {
	needs := []part{longTerm}
	return []check{
		{name: "recall/scores", needs: needs, run: recallScores},
		{name: "recall/title-beats-content", needs: needs, run: recallTitleFirst},
		{name: "recall/topic-beats-content", needs: needs, run: recallTopicFirst},
		{name: "recall/rare-word-beats-common", needs: needs, run: recallRareFirst},
		{name: "recall/newer-breaks-ties", needs: needs, run: recallNewerFirst},
		{name: "recall/equal-question-equal-answer", needs: needs, run: recallStable},
	}
}

func recallScores(w *world) {
	w.fact("The glacier melts.")
	w.fact("The glacier melts slowly in the northern valley during summer months.")
	w.fact("A glacier.")
	w.fact("The valley is green.")
	w.fact("Nothing of the kind.")
	hits := w.recall(amber.Query{Text: "glacier valley melting"})
	equal(len(hits), 4, "number of hits")
	scored(hits)
	for i := range hits[1:] {
		hold(hits[i].Score > hits[i+1].Score, "two hits that match differently score alike: %v", hits[i].Score)
	}
	equal(hits[0].Content, "The glacier melts slowly in the northern valley during summer months.", "the hit with all words")
}

func recallTitleFirst(w *world) {
	body := w.write(amber.WriteRequest{Title: "Morning notes", Content: "The lighthouse keeper called."}).ID
	title := w.write(amber.WriteRequest{Title: "Lighthouse notes", Content: "The morning keeper called."}).ID
	w.tick()
	later := w.write(amber.WriteRequest{Title: "Evening notes", Content: "The lighthouse keeper wrote."}).ID
	got := w.found("lighthouse")
	equal(sorted(got), sorted([]amber.MemoryID{body, title, later}), "hits")
	equal(got[0], title, "best hit")
}

func recallTopicFirst(w *world) {
	topic := w.write(amber.WriteRequest{Topic: "lighthouse", Content: "The morning keeper called."}).ID
	w.tick()
	body := w.write(amber.WriteRequest{Topic: "morning", Content: "The lighthouse keeper called."}).ID
	equal(w.found("lighthouse"), []amber.MemoryID{topic, body}, "hits, best first")
}

func recallRareFirst(w *world) {
	for i := range 12 {
		w.fact(fmt.Sprint("The server log line ", i))
	}
	rare := w.fact("The tundra log line")
	equal(w.found("server tundra")[0], rare, "best hit")
}

func recallNewerFirst(w *world) {
	var want []amber.MemoryID
	for _, n := range []string{"one", "two", "six", "ten"} {
		want = append(want, w.fact("The meteor passed. "+n))
		w.tick()
	}
	slices.Reverse(want)
	equal(w.found("meteor"), want, "hits that match alike, newest first")
}

func recallStable(w *world) {
	for i := range 20 {
		w.fact(fmt.Sprint("pebble ", i))
	}
	want := w.recall(amber.Query{Text: "pebble 7 11", Limit: 20})
	for range 5 {
		equal(w.recall(amber.Query{Text: "pebble 7 11", Limit: 20}), want, "the same question again")
	}
}
