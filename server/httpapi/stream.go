package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/events"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// pace is how fast event streams go.
type pace struct {
	poll time.Duration // between two looks at the token, or at what could not be told yet
	beat time.Duration // between two signs of life; a caller that does not read for as long is cut off
}

var streamPace = pace{poll: 500 * time.Millisecond, beat: 15 * time.Second}

const (
	streamBatch = 500
	streamQueue = 256 // events that wait for a slow reader
)

// streamIn says where an event stream begins.
type streamIn struct {
	After string `query:"after" doc:"continue after this event; default: begin with the next event"`
	Last  string `header:"Last-Event-ID" doc:"the same as after, sent by browsers"`
}

// eventRoutes serve what happens to an agent, as it happens.
func eventRoutes(a *API) {
	o := operation{
		id: "event.stream", bound: true, method: "GET", path: agentPath + "/events", scope: wire.TokenRead,
		summary: "Stream every change and every event of snapshots as server-sent events; a stream that continues after the last event misses nothing",
		in:      reflect.TypeFor[streamIn](), out: reflect.TypeFor[events.Event](), stream: true,
	}
	o.serve = func(a *API, o *operation, w http.ResponseWriter, r *http.Request) {
		var in streamIn
		if _, err := a.bind(r, o, &in); err != nil {
			a.fail(w, r, err)
			return
		}
		in.After = cmp.Or(in.After, in.Last)
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
	job := a.job(r, o)
	leave, err := a.streams.enter(server.CallerOf(r.Context()).Actor(), job.Tenant)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	defer leave()
	watched, stop := a.watch(w, r, o)
	defer stop()
	ctx, cancel := context.WithCancel(watched)
	defer cancel()
	defer context.AfterFunc(a.ending, cancel)()
	t := &teller{api: a, w: w, rc: http.NewResponseController(w), job: job, at: at, whole: server.CallerOf(r.Context()).Grant.Bound.None()}
	if err := t.begin(ctx); err != nil {
		if ctx.Err() == nil {
			a.fail(w, r, err)
		}
		return
	}
	defer t.leave()
	if r.Method == http.MethodHead {
		t.headers()
		return
	}
	err = t.run(ctx)
	if revoked := revokedError(ctx); revoked != nil {
		a.brokenOff(r, job, requestID(w), revoked)
	} else if err != nil && ctx.Err() == nil {
		a.brokenOff(r, job, requestID(w), err)
	}
}

// brokenOff logs why a stream ended that had begun: nobody else is told. That
// somebody has gone, was too slow or may not listen any more is nothing to act
// on.
func (a *API) brokenOff(r *http.Request, j server.Job, id string, err error) {
	level := slog.LevelWarn
	if errors.Is(err, errGone) || errors.Is(err, errSlow) || errors.Is(err, errRevoked) {
		level = slog.LevelDebug
	}
	a.o.Log.LogAttrs(r.Context(), level, "event stream broken off", slog.Any("error", err), slog.String("tenant", string(j.Tenant)),
		slog.String("agent", string(j.Agent)), slog.String("actor", server.CallerOf(r.Context()).Actor()), slog.String("request_id", id))
}

// Why streams end that nobody has to act on.
var (
	errSlow    = errors.New("events came faster than they were taken")
	errRevoked = errors.New("the caller may not listen any more")
)

// mayStill reports whether the caller of a request that goes on may still make
// it: its token may have been revoked, or have run out.
func (a *API) mayStill(r *http.Request, o *operation) error {
	c, err := a.caller(r)
	if err == nil {
		err = o.allow(r, c)
	}
	switch amber.KindOf(err) {
	case amber.KindRefused, amber.KindNotFound:
		return fmt.Errorf("%w: %w", errRevoked, err)
	}
	return err
}
