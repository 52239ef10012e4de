package httpapi

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
)

// pace is how fast event streams go.
type pace struct {
	poll time.Duration // between two looks at the change logs
	beat time.Duration // between two signs of life; whoever does not read for as long is cut off
}

var streamPace = pace{poll: 500 * time.Millisecond, beat: 15 * time.Second}

const (
	streamBatch = 500
	streamQueue = 256 // events that wait for a slow reader
)

// streamIn says where an event stream begins.
type streamIn struct {
	After string `query:"after" doc:"go on behind this event; without it only what happens from now on is told"`
	Last  string `header:"Last-Event-ID" doc:"the same, as browsers say it"`
}

// eventRoutes serve what happens to an agent, as it happens.
func eventRoutes(a *API) {
	o := operation{
		id: "event.stream", method: "GET", path: agentPath + "/events", scope: amber.TokenRead,
		summary: "Hear of every change and of what happens to snapshots, as server-sent events; nothing is left out where a stream goes on behind the last event",
		in:      reflect.TypeFor[streamIn](), out: reflect.TypeFor[amber.Event](),
	}
	o.serve = func(a *API, o *operation, w http.ResponseWriter, r *http.Request) {
		var in streamIn
		if _, err := a.bind(r, o, &in); err != nil {
			a.fail(w, r, err)
			return
		}
		if in.After == "" {
			in.After = in.Last
		}
		at, err := parsePlace(in.After)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		a.stream(w, r, o, at)
	}
	a.add(o)
}

// place is where a stream is in the two change logs of an agent.
type place struct{ memory, control amber.Position }

// parsePlace reads the id of an event: the positions in both logs.
func parsePlace(s string) (place, error) {
	if s == "" {
		return place{}, nil
	}
	m, c, ok := strings.Cut(s, ",")
	p := place{amber.Position(m), amber.Position(c)}
	_, _, merr := p.memory.Parse()
	_, _, cerr := p.control.Parse()
	odd := func(r rune) bool { return r <= ' ' || r > '~' } // it goes into a line of the stream
	if !ok || merr != nil || cerr != nil || strings.ContainsFunc(s, odd) {
		return place{}, invalid("%q is not the id of an event", clip(s))
	}
	return p, nil
}

func (p place) String() string { return string(p.memory) + "," + string(p.control) }

// stream tells what happens until the caller or the server goes.
func (a *API) stream(w http.ResponseWriter, r *http.Request, o *operation, at place) {
	select {
	case a.streams <- struct{}{}:
		defer func() { <-a.streams }()
	default:
		a.fail(w, r, amber.Errorf(amber.KindBusy, o.id, "", "too many streams are open"))
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.ending, cancel)()
	started := false
	err := a.o.Desk.Do(ctx, server.Job{
		Tenant: amber.TenantID(r.PathValue("tenant")), Agent: amber.AgentID(r.PathValue("agent")), Scope: o.scope, Action: o.id,
	}, func(ctx context.Context, ag *server.Agent) (string, error) {
		t := &teller{api: a, w: w, rc: http.NewResponseController(w), agent: ag, at: at, still: func() error { return a.mayStill(r, o) }}
		if err := t.begin(ctx); err != nil {
			return "", err
		}
		started = true
		if r.Method == http.MethodHead {
			t.headers()
			return "", nil
		}
		return "", t.run(ctx)
	})
	if err != nil && !started && ctx.Err() == nil {
		a.fail(w, r, err)
	}
}

// mayStill reports whether the caller of a request that goes on may still make
// it: its token may have been revoked, or have run out.
func (a *API) mayStill(r *http.Request, o *operation) error {
	c, err := a.caller(r)
	if err != nil {
		return err
	}
	return c.Allow(amber.TenantID(r.PathValue("tenant")), amber.AgentID(r.PathValue("agent")), o.scope)
}

// teller writes one event stream.
type teller struct {
	api   *API
	w     http.ResponseWriter
	rc    *http.ResponseController
	agent *server.Agent
	at    place
	still func() error // whether the caller may hear more
}

// run tells what happens until ctx ends, or somebody is too slow.
func (t *teller) run(ctx context.Context) error {
	heard := make(chan amber.Event, streamQueue)
	lost := make(chan struct{})
	if l := t.api.o.Listener; l != nil {
		ctx, cancel := context.WithCancel(ctx)
		over := make(chan struct{})
		go func() {
			defer close(over)
			full := false
			_ = l.Listen(ctx, t.agent.Tenant, t.agent.ID, func(e amber.Event) {
				select {
				case heard <- e:
				default:
					if !full {
						full = true
						close(lost) // the reader comes back, and knows where it was
					}
				}
			})
		}()
		defer func() { cancel(); <-over }()
	}
	t.headers()
	poll, beat := time.NewTicker(t.api.pace.poll), time.NewTicker(t.api.pace.beat)
	defer poll.Stop()
	defer beat.Stop()
	err := t.catchUp(ctx)
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-lost:
			return nil
		case e := <-heard:
			err = t.tell(e)
		case <-beat.C:
			if err = t.still(); err == nil {
				err = t.write(": \n\n")
			}
		case <-poll.C:
			err = t.catchUp(ctx)
		}
	}
	return err
}

// begin finds the place to begin at. One that a restore has replaced begins
// anew.
func (t *teller) begin(ctx context.Context) (err error) {
	if t.at == (place{}) {
		if t.at.memory, err = head(ctx, t.agent.Store.Changes); err != nil {
			return err
		}
		t.at.control, err = head(ctx, t.agent.Store.ControlChanges)
	}
	return err
}

// head is where a log ends; a backend without one has nothing to tell.
func head(ctx context.Context, log amber.ChangeLog) (amber.Position, error) {
	p, err := log.Head(ctx)
	if amber.KindOf(err) == amber.KindUnsupported {
		return "", nil
	}
	return p, err
}

func (t *teller) headers() {
	h := t.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	t.w.WriteHeader(http.StatusOK)
	_ = t.rc.Flush() // an error shows with the first event
}

// catchUp tells what the change logs hold behind the place.
func (t *teller) catchUp(ctx context.Context) error {
	if off := t.api.o.MutationsOff; off != nil && off() {
		return nil
	}
	if err := t.follow(ctx, t.agent.Store.Changes, &t.at.memory); err != nil {
		return err
	}
	return t.follow(ctx, t.agent.Store.ControlChanges, &t.at.control)
}

func (t *teller) follow(ctx context.Context, log amber.ChangeLog, at *amber.Position) error {
	for {
		changes, err := log.Changes(ctx, *at, streamBatch)
		switch amber.KindOf(err) {
		case amber.KindUnsupported:
			return nil
		case amber.KindConflict: // a restore; what came before it is not told again
			if *at, err = log.Head(ctx); err != nil {
				return err
			}
			return t.write("event: restored\nid: " + t.at.String() + "\ndata: {}\n\n")
		}
		if err != nil {
			return err
		}
		for _, c := range changes {
			*at = c.Position
			if err := t.tell(amber.MutationEvent(t.api.o.MutationPrefix, t.agent.Tenant, t.agent.ID, c)); err != nil {
				return err
			}
		}
		if len(changes) < streamBatch {
			return nil
		}
	}
}

func (t *teller) tell(e amber.Event) error {
	b, err := marshal(e)
	if err != nil {
		return err
	}
	return t.write("event: " + string(e.Name) + "\nid: " + t.at.String() + "\ndata: " + strings.TrimSuffix(string(b), "\n") + "\n\n")
}

// write sends a piece; whoever does not read is cut off.
func (t *teller) write(s string) error {
	defer hurry(t.w, t.api.pace.beat)()
	_, err := t.w.Write([]byte(s))
	return errors.Join(err, t.rc.Flush())
}
