package natsbus

import (
	"context"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
)

// senders bounds the publications under way at one time. One more waits.
const senders = 64

// Bus is a publisher to NATS. Safe for concurrent use; events that concurrent
// calls publish have no order among them.
type Bus struct {
	o      Options
	hidden secrets
	status status
	// slots bounds senders. A sender may outlive the call it was started for,
	// by as long as the client library holds its lock: while it connects.
	slots chan struct{}

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup // of senders; Add only while mu is held and closed is false

	// connecting orders those who make a connection; conn is guarded by it.
	connecting sync.Mutex
	conn       *connection

	complaints complaints // of servers

	end  sync.Once
	done chan struct{} // closed when Close has finished its work
}

var _ events.Publisher = (*Bus)(nil)

// Open returns a bus. It tries each server once, for two seconds at most, and
// goes on trying in the background where none answers. The caller closes the bus.
// Errors: invalid; not_found and refused for the file of credentials; never that
// a server is away or refuses the login, which [Bus.Health] tells; unreachable
// when ctx ends before that.
func Open(ctx context.Context, o Options) (*Bus, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	servers, err := parseServers(o.URL)
	if err != nil {
		return nil, err
	}
	b := &Bus{o: o, hidden: secretsOf(servers), done: make(chan struct{})}
	b.slots = make(chan struct{}, senders)
	if !o.JetStream {
		b.slots = make(chan struct{}, 1) // see sendPlain
	}
	if err := b.begin(ctx); err != nil {
		return nil, err
	}
	if o.JetStream && b.status.current() == linkUp {
		within, cancel := context.WithTimeout(ctx, min(o.Wait, dialWait))
		defer cancel()
		// This makes the stream, so that there is something to subscribe to. The first publication
		// finds and reports an error of the stream again.
		if err := b.ensureStream(within, b.conn.js); err != nil {
			b.o.Log.Warn("the stream is not ready", "stream", o.Stream, "error", b.hidden.clean(err))
		}
	}
	return b, nil
}

// begin connects for the first time, as long as ctx lasts: with many servers that do not answer
// this takes its time. When ctx ends first, begin closes the connection that is still being tried
// as soon as the client library returns.
func (b *Bus) begin(ctx context.Context) error {
	tried := make(chan error, 1)
	go func() { tried <- b.connect() }()
	select {
	case err := <-tried:
		return err
	case <-ctx.Done():
	}
	go func() {
		if <-tried == nil {
			b.conn.close()
		}
	}()
	return &amber.Error{Op: openOp, Kind: amber.KindUnreachable, Err: ctx.Err()}
}

// Publish implements [events.Publisher]. It returns when the server has the
// event, and waits for that no longer than ctx or Options.Wait say. After an error
// the server may have the event nevertheless.
//
// An event that is larger than the server takes is published without its
// payload. Errors: unreachable; refused when the server takes no such event;
// invalid for an event without an id, with a subject that is not valid, or with a
// payload that is no JSON.
func (b *Bus) Publish(ctx context.Context, e events.Event) error {
	m, err := encode(e)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, b.o.Wait)
		defer cancel()
		err = b.hand(ctx, m)
	}
	why := ""
	if err != nil {
		why = b.hidden.clean(err)
	}
	b.status.published(why)
	return err
}

// hand lets a sender do the work, so that nothing the client library waits for
// keeps the caller longer than ctx.
func (b *Bus) hand(ctx context.Context, m message) error {
	if b.status.current() == linkDown {
		return b.fail(m, amber.KindUnreachable, errNotConnected)
	}
	select {
	case b.slots <- struct{}{}:
	case <-ctx.Done():
		return b.fail(m, amber.KindUnreachable, ctx.Err())
	}
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		<-b.slots
		return b.fail(m, amber.KindUnreachable, errClosed)
	}
	b.wg.Add(1)
	b.mu.Unlock()
	lost := b.status.watch()
	// With JetStream a server answers nothing to what it does not permit.
	refused, forget := b.complaints.about(m.event.Subject)
	defer forget()
	sent := make(chan error, 1)
	go func() {
		defer b.wg.Done()
		defer func() { <-b.slots }()
		sent <- b.send(ctx, m)
	}()
	select {
	case err := <-sent:
		return err
	case <-lost: // no answer will come; the sender ends with ctx
		return b.fail(m, amber.KindUnreachable, errLost)
	case why := <-refused:
		return b.fail(m, amber.KindRefused, errors.New(why))
	case <-ctx.Done():
		return b.fail(m, amber.KindUnreachable, ctx.Err())
	}
}

var (
	errNotConnected = errors.New("there is no connection to NATS")
	errClosed       = errors.New("the event bus is closed")
	errLost         = errors.New("the connection to NATS was lost before the event was acknowledged")
)

// send publishes one event, and again without its payload where it is too large.
func (b *Bus) send(ctx context.Context, m message) error {
	c, err := b.connected()
	if err != nil {
		return b.fail(m, amber.KindUnreachable, err)
	}
	put := b.sendPlain
	if b.o.JetStream {
		put = b.sendKept
	}
	err = put(ctx, c, m.full)
	if tooLarge(err) {
		var bare *nats.Msg
		if bare, err = m.bare(); err == nil {
			err = put(ctx, c, bare)
		}
		if err == nil {
			b.o.Log.Warn("an event is larger than the server takes and was published without its payload",
				"event", string(m.event.Name), "id", m.event.ID, "bytes", len(m.full.Data))
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		c.probe()
	}
	return b.explain(m, err)
}

// explain turns an error of the client library into one of ours.
func (b *Bus) explain(m message, err error) error {
	var e *amber.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case tooLarge(err):
		e := b.fail(m, amber.KindRefused, errors.New("the event is larger than the NATS server takes, even without its payload"))
		e.Hint = "raise max_payload of the NATS server, or max_msg_size of its stream"
		return e
	case errors.Is(err, nats.ErrPermissionViolation), errors.Is(err, nats.ErrHeadersNotSupported):
		return b.fail(m, amber.KindRefused, err)
	}
	return b.fail(m, apiKind(err), err)
}

func (b *Bus) fail(m message, kind amber.Kind, err error) *amber.Error {
	return &amber.Error{Op: publishOp, Kind: kind, ID: m.event.ID, Err: b.hidden.scrub(err)}
}

// Health tells how the bus is doing. It waits for nothing.
func (b *Bus) Health() Health { return b.status.health() }

// Close lets the publications under way finish and ends the connection, both
// until ctx ends; later publications are unreachable. It may be called twice.
// Errors: unreachable when something was not finished by then; it finishes soon
// after.
func (b *Bus) Close(ctx context.Context) error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.end.Do(func() { go b.shut(ctx) })
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		return &amber.Error{Op: "close event bus", Kind: amber.KindUnreachable, Err: ctx.Err()}
	}
}

func (b *Bus) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// shut ends the connection after the last sender, or once ctx has ended.
func (b *Bus) shut(ctx context.Context) {
	defer close(b.done)
	idle := make(chan struct{})
	go func() {
		b.wg.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	b.connecting.Lock()
	c := b.conn
	b.connecting.Unlock()
	c.close()
	<-idle
}
