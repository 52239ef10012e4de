package daemon

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/events"
	"github.com/amber-memory/amber/internal/check"
)

// A listener who is too slow is not told a story with holes: listening ends.
func TestListeningEndsWhereEventsAreLost(t *testing.T) {
	t.Parallel()
	bus, config := new(events.Bus), config.Default().Events
	first, goOn, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	heard := 0
	publish := func() {
		check.NoError(t, bus.Publish(t.Context(), events.Event{Subject: config.LifecyclePrefix + ".acme.ada.created"}))
	}
	go func() {
		over <- listening{bus, config}.Listen(t.Context(), "acme", "ada", func(events.Event) {
			if heard++; heard == 1 {
				close(first)
				<-goOn
			}
		})
	}()
	for begun := false; !begun; { // it may not have subscribed yet
		publish()
		select {
		case <-first:
			begun = true
		default:
		}
	}
	for range 2 * events.DefaultBuffer {
		publish()
	}
	close(goOn)
	check.Kind(t, "", <-over, amber.KindBusy)
	if heard > 1 {
		t.Errorf("%d events were heard after some were lost", heard-1)
	}
}
