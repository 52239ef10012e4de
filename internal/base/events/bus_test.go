package events_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/test/must"
)

func publish(t *testing.T, b *events.Bus, subjects ...string) {
	t.Helper()
	for _, s := range subjects {
		must.Do(t, b.Publish(t.Context(), events.Event{ID: s, Subject: s}))
	}
}

// drain closes a subscription and returns the subjects it still has.
func drain(s *events.Subscription) []string {
	s.Close()
	var out []string
	for e := range s.C {
		out = append(out, e.Subject)
	}
	return out
}

func TestBusHandsOutWhatAPatternStandsFor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern string
		yes, no []string
	}{
		{"a.b", []string{"a.b"}, []string{"a", "a.b.c", "b", "a.bb", "A.b"}},
		{"a.*", []string{"a.b", "a.c"}, []string{"a", "a.b.c"}},
		{"*.b.*", []string{"a.b.c"}, []string{"a.b", "a.c.c"}},
		{"a.>", []string{"a.b", "a.b.c"}, []string{"a", "b.c"}},
		{">", []string{"a", "a.b"}, nil},
		{"*", []string{"a"}, []string{"a.b", ""}},
		{
			"amber.memory.snapshot.acme.*.created",
			[]string{"amber.memory.snapshot.acme.ada.created"},
			[]string{"amber.memory.snapshot.acme.ada.deleted", "amber.memory.snapshot.acme._all.gc", "amber.memory.mutated.acme.ada"},
		},
	} {
		var b events.Bus
		s := must.Get(b.Subscribe(tt.pattern, 0))(t)
		publish(t, &b, tt.yes...)
		publish(t, &b, tt.no...)
		must.Equal(t, tt.pattern, drain(s), tt.yes)
	}
}

func TestBusRefusesBadPatterns(t *testing.T) {
	t.Parallel()
	var b events.Bus
	for _, p := range []string{"", ".", "a.", ".a", "a..b", "a b", "a.\n", "a.>.b", "a*", ">a", "a.b>", strings.Repeat("a", 513)} {
		must.Fail(b.Subscribe(p, 1))(t, p, amber.KindInvalid)
	}
	must.Kind(t, "a negative buffer", must.Err(b.Subscribe("a", -1)), amber.KindInvalid)
}

func TestASlowListenerLosesEventsAndIsTold(t *testing.T) {
	t.Parallel()
	var b events.Bus
	slow, quick := must.Get(b.Subscribe(">", 2))(t), must.Get(b.Subscribe(">", 5))(t)
	publish(t, &b, "1", "2", "3", "4", "5")
	must.Equal(t, "dropped", slow.Dropped(), 3)
	must.Equal(t, "dropped", quick.Dropped(), 0)
	<-slow.C // there is room again
	publish(t, &b, "6")
	must.Equal(t, "slow", drain(slow), []string{"2", "6"})
	must.Equal(t, "quick", drain(quick), []string{"1", "2", "3", "4", "5"})
	must.Equal(t, "dropped", quick.Dropped(), 1)
}

func TestAClosedSubscriptionGetsNothing(t *testing.T) {
	t.Parallel()
	var b events.Bus
	s, other := must.Get(b.Subscribe(">", 9))(t), must.Get(b.Subscribe(">", 9))(t)
	publish(t, &b, "a")
	s.Close()
	s.Close()
	publish(t, &b, "b")
	must.Equal(t, "closed", drain(s), []string{"a"})
	must.Equal(t, "other", drain(other), []string{"a", "b"})
}

// Every listener sees the events of all publishers, and all in one order.
func TestBusBesideManyPublishersAndListeners(t *testing.T) {
	t.Parallel()
	const publishers, each = 8, 50
	var b events.Bus
	var subs []*events.Subscription
	for range 4 {
		subs = append(subs, must.Get(b.Subscribe("p.>", publishers*each))(t))
	}
	var wg sync.WaitGroup
	for p := range publishers {
		wg.Go(func() {
			for i := range each {
				_ = b.Publish(t.Context(), events.Event{Subject: fmt.Sprintf("p.%d.%d", p, i)})
				s, err := b.Subscribe(">", 1)
				if err == nil {
					s.Close()
				}
			}
		})
	}
	wg.Wait()
	first := drain(subs[0])
	must.Equal(t, "events that arrived", len(first), publishers*each)
	for _, s := range subs[1:] {
		must.Equal(t, "order", drain(s), first)
	}
}

func TestAFanTellsEverybodyAlsoWhenOneFails(t *testing.T) {
	t.Parallel()
	a, b, c := &recorder{}, &recorder{fail: 1}, &recorder{}
	fan := events.Fan(a, nil, b, c)
	if err := fan.Publish(t.Context(), events.Event{ID: "1"}); !errors.Is(err, errDown) || amber.KindOf(err) != amber.KindUnreachable {
		t.Errorf("got %v", err)
	}
	must.Do(t, fan.Publish(t.Context(), events.Event{ID: "2"}))
	must.Equal(t, "before", ids(a.take()), []string{"1", "2"})
	must.Equal(t, "the one that failed", ids(b.take()), []string{"2"})
	must.Equal(t, "behind", ids(c.take()), []string{"1", "2"})

	a.fail, c.fail = 1, 1
	must.Kind(t, "two fail", fan.Publish(t.Context(), events.Event{ID: "3"}), amber.KindUnreachable)
	mixed := events.Fan(refuser{a, map[string]bool{"4": true}}, c)
	c.fail = 1
	must.Kind(t, "one calls it invalid, one is to be asked again", mixed.Publish(t.Context(), events.Event{ID: "4"}), amber.KindUnreachable)
	must.Kind(t, "nobody is to be asked again", mixed.Publish(t.Context(), events.Event{ID: "4"}), amber.KindInvalid)
	must.Do(t, events.Fan().Publish(t.Context(), events.Event{}))
}
