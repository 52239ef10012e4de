package daemon

import (
	"context"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/events"
)

// An event that the outbox has no room for is lost, and counted.
func TestAnEventThatTheOutboxDoesNotTakeIsCounted(t *testing.T) {
	t.Parallel()
	var bus events.Bus
	l := &lossy{Publisher: &bus}
	if err := l.Publish(t.Context(), events.Event{}); err != nil || l.lost.Load() != 0 {
		t.Errorf("got %v, %d lost", err, l.lost.Load())
	}
	l.Publisher = full{}
	if err := l.Publish(t.Context(), events.Event{}); amber.KindOf(err) != amber.KindQuota || l.lost.Load() != 1 {
		t.Errorf("got %v, %d lost", err, l.lost.Load())
	}
}

// full is an outbox without room.
type full struct{}

func (full) Publish(context.Context, events.Event) error {
	return amber.Errorf(amber.KindQuota, "publish event", "", "the outbox is full: 100000 events wait")
}
