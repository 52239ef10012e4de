package foreign_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/test/must"
)

func turnAt(second int, text string) foreign.Turn {
	return foreign.Turn{Content: text, At: amber.At(time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC))}
}

func TestGatherHoldsNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	all := map[string][]foreign.Turn{"a": {turnAt(2, "a2"), turnAt(1, "a1")}, "b": {turnAt(1, "b1")}, "c": {turnAt(3, "c3")}, "d": nil}
	var passes, given []string
	collect := func(held map[string][]foreign.Turn) error {
		var ids []string
		for _, id := range []string{"a", "b", "c", "d"} {
			if _, ok := held[id]; ok {
				ids = append(ids, id)
				held[id] = append(held[id], all[id]...)
			}
		}
		passes = append(passes, strings.Join(ids, ""))
		return nil
	}
	give := func(id string, turns []foreign.Turn) error {
		for _, turn := range turns {
			given = append(given, id+":"+turn.Content)
		}
		return nil
	}
	sizes := map[string]int{"a": 4, "b": 2, "c": 50, "d": 1}
	must.Do(t, foreign.Gather(sizes, 6, collect, give))
	must.Equal(t, "passes", strings.Join(passes, " "), "ab c d")
	must.Equal(t, "turns", strings.Join(given, " "), "a:a1 a:a2 b:b1 c:c3")
	failed := errors.New("failed")
	must.Is(t, "error of a pass", foreign.Gather(sizes, 6, func(map[string][]foreign.Turn) error { return failed }, give), failed)
	must.Is(t, "error of the sink", foreign.Gather(sizes, 6, collect, func(string, []foreign.Turn) error { return failed }), failed)
}

func TestASessionSpansItsTurns(t *testing.T) {
	t.Parallel()
	var s foreign.Session
	s.Span([]foreign.Turn{turnAt(2, ""), turnAt(1, ""), turnAt(9, ""), turnAt(3, "")})
	must.Equal(t, "start", s.StartedAt.String(), "2026-01-02T03:04:01.000Z")
	must.Equal(t, "end", s.EndedAt.String(), "2026-01-02T03:04:09.000Z")
}
