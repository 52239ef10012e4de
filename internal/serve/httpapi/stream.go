package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
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
		return place{}, op.Invalid("%q is not the id of an event", clip.Name(s))
	}
	return p, nil
}

func (p place) String() string { return string(p.memory) + "," + string(p.control) }

// stream sends events to the caller until the caller or the server goes.
func (q *request) stream() {
	a, w := q.api, q.w
	in := q.in.(op.EventsIn)
	at, err := parsePlace(cmp.Or(in.After, in.Last))
	if err != nil {
		a.fail(w, q.r, err)
		return
	}
	job := q.job()
	leave, err := a.streams.enter(q.who.Actor(), job.Tenant)
	if err != nil {
		a.fail(w, q.r, err)
		return
	}
	defer leave()
	watched, stop := q.watch()
	defer stop()
	ctx, cancel := context.WithCancel(watched)
	defer cancel()
	defer context.AfterFunc(a.ending, cancel)()
	t := &teller{api: a, w: w, rc: http.NewResponseController(w), who: q.who, job: job, at: at, whole: q.who.Grant.Bound.None()}
	if err := t.begin(ctx); err != nil {
		if ctx.Err() == nil {
			a.fail(w, q.r, err)
		}
		return
	}
	defer t.leave()
	if q.r.Method == http.MethodHead {
		t.headers()
		return
	}
	err = t.run(ctx)
	if revoked := revokedError(ctx); revoked != nil {
		q.brokenOff(job, revoked)
	} else if err != nil && ctx.Err() == nil {
		q.brokenOff(job, err)
	}
}

// brokenOff logs why a stream ended that had begun: the log is the only place where that is said. That the caller
// has gone, was too slow or may not listen any more calls for no action, so it is logged at level debug.
func (q *request) brokenOff(j server.Job, err error) {
	level := slog.LevelWarn
	if errors.Is(err, errGone) || errors.Is(err, errSlow) || errors.Is(err, errRevoked) {
		level = slog.LevelDebug
	}
	q.api.o.Log.LogAttrs(q.r.Context(), level, "event stream broken off", slog.Any("error", err), slog.String("tenant", string(j.Tenant)),
		slog.String("agent", string(j.Agent)), slog.String("actor", q.who.Actor()), slog.String("request_id", requestID(q.w)))
}

// Ends of a stream that call for no action of the operator.
var (
	errSlow    = errors.New("events came faster than they were taken")
	errRevoked = errors.New("the caller may not listen any more")
)

// mayStill reports whether the caller of a request that goes on may still make
// it: its token may have been revoked, or have run out.
func (q *request) mayStill() error {
	c, err := q.api.caller(q.r)
	if err == nil {
		err = q.allow(c)
	}
	switch amber.KindOf(err) {
	case amber.KindRefused, amber.KindNotFound:
		return fmt.Errorf("%w: %w", errRevoked, err)
	}
	return err
}
