package events_test

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/test/must"
)

// positions are those of changes, in words.
func positions(changes []amber.Change) (out []string) {
	for _, c := range changes {
		out = append(out, c.Key)
	}
	return out
}

func refresh(t *testing.T, tail *events.Tail, log amber.ChangeLog) bool {
	t.Helper()
	return must.Get(tail.Refresh(t.Context(), log))(t)
}

func TestATailAnswersFromMemoryWhatComesAfterItsBeginning(t *testing.T) {
	t.Parallel()
	log, tail := &history{entries: []string{"A1", "A2"}, newest: "A"}, new(events.Tail)
	if _, found := tail.Changes("A/2", 10); found {
		t.Error("a tail that has read nothing knows a position")
	}
	refresh(t, tail, log)
	log.entries = append(log.entries, "A3", "A4", "A5")
	must.Hold(t, refresh(t, tail, log) && !refresh(t, tail, log), "three entries are news once")
	log.fail = errDown // the tail does not ask the log from here on
	over := tail.Over(log)
	for after, keys := range map[amber.Position][]string{"A/2": {"A3", "A4"}, "A/4": {"A5"}, "A/5": nil} {
		got := must.Get(over.Changes(t.Context(), after, 2))(t)
		must.Equal(t, string(after), positions(got), keys)
	}
	must.Equal(t, "head", must.Get(over.Head(t.Context()))(t), position("A5"))
	if _, err := over.Changes(t.Context(), "A/1", 10); err == nil {
		t.Error("what the tail does not hold does not come from the log")
	}
}

func TestATailIsBoundedAndSendsThoseWhoAreFarBehindToTheLog(t *testing.T) {
	t.Parallel()
	log, tail := &history{newest: "A"}, new(events.Tail)
	refresh(t, tail, log)
	const n = events.TailSize + 100
	for i := range n {
		log.entries = append(log.entries, fmt.Sprintf("A%d", i+1))
	}
	refresh(t, tail, log)
	if _, found := tail.Changes("A/99", n); found {
		t.Error("the tail holds more than its size")
	}
	got, found := tail.Changes("A/100", n)
	must.Hold(t, found && len(got) == events.TailSize, "%d entries, %v", len(got), found)
	must.Equal(t, "from the log", positions(must.Get(tail.Over(log).Changes(t.Context(), "A/99", n))(t)), log.entries[99:])
}

func TestATailBeginsAnewAfterARestore(t *testing.T) {
	t.Parallel()
	log, tail := &history{entries: []string{"A1", "A2", "A3"}, newest: "A"}, new(events.Tail)
	refresh(t, tail, log)
	log.entries, log.newest = []string{"A1", "B2"}, "B"
	must.Equal(t, "a restore is news", refresh(t, tail, log), true)
	if _, found := tail.Changes("A/3", 10); found {
		t.Error("a position of the history that was replaced is known")
	}
	must.Kind(t, "", must.Err(tail.Over(log).Changes(t.Context(), "A/3", 10)), amber.KindConflict)
	log.entries = append(log.entries, "B3")
	refresh(t, tail, log)
	must.Equal(t, "after the restore", positions(must.Get(tail.Over(log).Changes(t.Context(), "B/2", 10))(t)), []string{"B3"})
}
