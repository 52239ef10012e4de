package natsbus

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/amber-memory/amber"
)

// Codes of errors that a JetStream server answers with.
const (
	codeOtherStream = 10060 // the subject belongs to another stream
	codeOverlap     = 10065 // another stream has some of the subjects
)

// sendPlain publishes without JetStream and asks the server for a sign of life:
// it reads in order, so what came before was read, and it complains before it
// answers. One at a time, so that a complaint is about this event.
//
// The client library would send on over a connection it has made anew in
// between, and take the answer there for one about everything before.
func (b *Bus) sendPlain(ctx context.Context, c *connection, msg *nats.Msg) error {
	made, complaint := c.nc.Stats().Reconnects, c.nc.LastError()
	if err := c.nc.PublishMsg(msg); err != nil {
		return err
	}
	if err := c.nc.FlushWithContext(ctx); err != nil {
		return err
	}
	if c.nc.Stats().Reconnects != made {
		return errLost
	}
	if err := c.nc.LastError(); errors.Is(err, nats.ErrPermissionViolation) && err != complaint {
		return err
	}
	return nil
}

// sendKept publishes with JetStream. A stream that is missing is made.
func (b *Bus) sendKept(ctx context.Context, c *connection, msg *nats.Msg) error {
	if c.doubt.Swap(false) {
		if err := b.doubtStream(ctx, c); err != nil {
			c.doubt.Store(true)
			return err
		}
	}
	err := b.keep(ctx, c, msg)
	if errors.Is(err, jetstream.ErrNoStreamResponse) {
		if err := b.ensureStream(ctx, c.js); err != nil {
			return err
		}
		if err = b.keep(ctx, c, msg); errors.Is(err, jetstream.ErrNoStreamResponse) {
			err = fmt.Errorf("no stream takes the subject %s", msg.Subject)
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		c.doubt.Store(true)
	}
	return err
}

// doubtStream looks for the stream after a publication that got no answer: a plain listener to the
// same subject hides that there is no stream. A client that may publish but may not look at streams
// goes on.
func (b *Bus) doubtStream(ctx context.Context, c *connection) error {
	within, cancel := context.WithTimeout(ctx, b.o.Wait/2)
	defer cancel()
	err := b.ensureStream(within, c.js)
	if amber.KindOf(err) == amber.KindRefused {
		return err
	}
	return nil
}

func (b *Bus) keep(ctx context.Context, c *connection, msg *nats.Msg) error {
	_, err := c.js.PublishMsg(ctx, msg, jetstream.WithExpectStream(b.o.Stream), jetstream.WithRetryAttempts(0))
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.ErrorCode == codeOtherStream {
		return b.otherStream(msg.Subject, api)
	}
	return err
}

func (b *Bus) otherStream(subject string, cause error) error {
	return &amber.Error{
		Op: publishOp, Kind: amber.KindRefused, ID: subject, Err: fmt.Errorf("another stream than %s has this subject: %w", b.o.Stream, cause),
		Hint: "nats stream ls --subject " + subject,
	}
}

func tooLarge(err error) bool {
	return errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, jetstream.ErrStreamMessageExceedsMaximum)
}

// apiKind tells an answer that says no from one that did not come.
func apiKind(err error) amber.Kind {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.Code < 500 {
		return amber.KindRefused
	}
	return amber.KindUnreachable
}
