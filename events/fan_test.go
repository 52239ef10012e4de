package events_test

import (
	"errors"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/events"
	"github.com/amber-memory/amber/internal/check"
)

func TestAFanTellsEverybodyAlsoWhenOneFails(t *testing.T) {
	t.Parallel()
	a, b, c := &recorder{}, &recorder{fail: 1}, &recorder{}
	fan := events.Fan(a, nil, b, c)
	if err := fan.Publish(t.Context(), events.Event{ID: "1"}); !errors.Is(err, errDown) || amber.KindOf(err) != amber.KindUnreachable {
		t.Errorf("got %v", err)
	}
	must(0, fan.Publish(t.Context(), events.Event{ID: "2"}))(t)
	want(t, "before", ids(a.take()), []string{"1", "2"})
	want(t, "the one that failed", ids(b.take()), []string{"2"})
	want(t, "behind", ids(c.take()), []string{"1", "2"})

	a.fail, c.fail = 1, 1
	check.Kind(t, "two fail", fan.Publish(t.Context(), events.Event{ID: "3"}), amber.KindUnreachable)
	mixed := events.Fan(refuser{a, map[string]bool{"4": true}}, c)
	c.fail = 1
	if err := mixed.Publish(t.Context(), events.Event{ID: "4"}); amber.KindOf(err) != amber.KindUnreachable {
		t.Errorf("one calls it invalid, one is to be asked again: %v", err)
	}
	check.Kind(t, "nobody is to be asked again", mixed.Publish(t.Context(), events.Event{ID: "4"}), amber.KindInvalid)
	must(0, events.Fan().Publish(t.Context(), events.Event{}))(t)
}
