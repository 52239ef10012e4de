package events

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
)

// Outbox keeps events until they are published. Safe for use by one relay
// beside those who put events in.
type Outbox interface {
	// PendingEvents returns events that are not published yet, oldest first,
	// at most limit.
	PendingEvents(ctx context.Context, limit int) ([]OutboxEvent, error)
	// EventsPublished forgets the events up to and including number upTo.
	EventsPublished(ctx context.Context, upTo int64) error
}

// Relay publishes the events of an outbox, in order, each until the publisher
// has taken it. A process that dies in between publishes at most one batch of
// them again, under the same ids.
//
// An event that the publisher calls invalid can never be published: it
// is reported, counted and left out, so that those behind it go on. It is lost;
// the change that it reports stays made.
//
// Set the fields before the first call. Run and Step are for one goroutine and
// one process at a time: two relays of one outbox would publish everything twice.
type Relay struct {
	Outbox    Outbox
	Publisher Publisher

	Interval time.Duration                        // how often the outbox is asked; 0: DefaultInterval
	Wake     <-chan struct{}                      // an element of it asks the outbox at once; it may be nil
	After    func(time.Duration) <-chan time.Time // nil: [time.After]
	// Report is called after every step of Run: with nil when all went well, or
	// with the reason why something has to be tried again or was left out. It may
	// be nil, and must not block.
	Report func(error)

	skipped atomic.Int64
	// taken is up to where events are published that the outbox could not
	// forget yet; 0 when there are none. Numbers may begin anew once an outbox
	// is empty.
	taken int64
}

// Skipped returns how many events were left out so far. Safe for concurrent use.
func (r *Relay) Skipped() int64 { return r.skipped.Load() }

// Run relays until ctx ends and returns nil then. Whatever fails is tried
// again, later and later. The error is of kind invalid, for missing fields.
func (r *Relay) Run(ctx context.Context) error {
	if err := r.check(); err != nil {
		return err
	}
	return steps(ctx, pace{r.Interval, r.After, r.Report, r.Wake}, func(ctx context.Context) (int, error) {
		before := r.Skipped()
		n, err := r.Step(ctx)
		if err == nil && r.Skipped() == before && r.Report != nil {
			r.Report(nil)
		}
		return n, err
	})
}

func (r *Relay) check() error {
	if r.Outbox == nil || r.Publisher == nil {
		return amber.Errorf(amber.KindInvalid, "relay events", "", "outbox and publisher are required")
	}
	return nil
}

// Step publishes what waits, at most one batch, and lets the outbox forget it,
// also when it fails in the middle. It returns how many events it is done with.
// Errors: those of the outbox and the publisher.
func (r *Relay) Step(ctx context.Context) (published int, err error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	waiting, err := r.Outbox.PendingEvents(ctx, batch)
	if err != nil {
		return 0, err
	}
	for _, e := range waiting {
		if e.Seq <= r.taken {
			continue
		}
		if err = r.publish(ctx, e); err != nil {
			break
		}
		r.taken = e.Seq
		published++
	}
	if ferr := r.forget(ctx); err == nil {
		err = ferr
	}
	return published, err
}

// forget lets the outbox forget what is out, also when ctx has ended meanwhile.
func (r *Relay) forget(ctx context.Context) error {
	if r.taken == 0 {
		return nil
	}
	if err := r.Outbox.EventsPublished(context.WithoutCancel(ctx), r.taken); err != nil {
		return err
	}
	r.taken = 0
	return nil
}

// publish hands out one event. An event that can never be published counts as done.
func (r *Relay) publish(ctx context.Context, e OutboxEvent) error {
	err := r.Publisher.Publish(ctx, e.Event)
	if amber.KindOf(err) != amber.KindInvalid {
		return err
	}
	r.skipped.Add(1)
	if r.Report != nil {
		r.Report(&amber.Error{Op: "leave out event", Kind: amber.KindInvalid, ID: e.Event.ID, Err: err})
	}
	return nil
}
