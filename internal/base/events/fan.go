package events

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
)

// Fan returns a publisher that hands every event to each of the given ones in
// turn, also when one before it fails. Those that are nil are left out.
//
// It fails when one of them does, so a caller that offers the event again offers
// it to all: those that had taken it see it twice, and nothing newer until the
// one that failed is back. Where that matters, give each its own worker with its
// own cursor instead.
func Fan(publishers ...Publisher) Publisher {
	var f fan
	for _, p := range publishers {
		if p != nil {
			f = append(f, p)
		}
	}
	return f
}

type fan []Publisher

// Publish implements [Publisher]. The error joins the errors of all publishers. It is of kind
// invalid only when all of them are: otherwise the caller has to offer the event again.
func (f fan) Publish(ctx context.Context, e Event) error {
	var failed, hopeless []error
	for _, p := range f {
		err := p.Publish(ctx, e)
		switch amber.KindOf(err) {
		case "":
		case amber.KindInvalid:
			hopeless = append(hopeless, err)
		default:
			failed = append(failed, err)
		}
	}
	return errors.Join(append(failed, hopeless...)...)
}
