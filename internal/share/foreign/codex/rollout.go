package codex

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Bounds of what is remembered of a rollout between two passes.
const (
	maxItems  = 1 << 20
	maxFailed = 10_000
	maxSaid   = 1000 // bytes of what a failed tool said
)

// digest distinguishes items.
type digest [8]byte

// walk goes over the lines of a rollout. The first pass finds the facts, the second gives out turns.
type walk struct {
	rollout
	meta
	name     string   // of the thread
	prompt   string   // the first
	replayed []digest // of the parent: a fork begins with them
	own      bool     // the lines of the parent have ended
	parts    int      // items and compactions so far
	chain    [16]byte // the digest of all of them
	at       amber.Time
	failed   map[string]string // by call, what the tool said

	turns   int64
	span    foreign.Span
	lastKey string

	emit func(foreign.Turn) error
	skip foreign.SkipFunc
}

func (r *reader) readRollout(ctx context.Context, one rollout) error {
	w := &walk{rollout: one, failed: map[string]string{}, skip: r.to.Skip, emit: func(foreign.Turn) error { return nil }}
	w.meta = firstMeta(ctx, one.file)
	if w.thread == "" {
		w.thread = w.id
	}
	if w.thread == "" {
		r.to.Skip(one.file.Place(""), "the file names no thread: its first line is not session_meta")
		return nil
	}
	if parent, ok := r.threads[w.parent]; ok && w.parent != w.thread {
		w.replayed = parts(ctx, parent.file)
	}
	if err := w.run(ctx); err != nil || w.turns == 0 {
		return err
	}
	want, err := r.to.Session(r.session(w))
	if err != nil || !want {
		return err
	}
	return r.giveOut(ctx, w)
}

// giveOut is the second pass. A rollout may have grown since the first: what is new is for the next time.
func (r *reader) giveOut(ctx context.Context, w *walk) error {
	second := &walk{
		rollout: w.rollout, meta: w.meta, replayed: w.replayed, failed: w.failed, skip: foreign.Quiet,
	}
	left := w.turns
	second.emit = func(t foreign.Turn) error {
		if left--; left < 0 {
			return foreign.ErrEnough
		}
		return r.to.Turn(t)
	}
	return second.run(ctx)
}

func (r *reader) session(w *walk) foreign.Session {
	started := w.span.First
	if at, err := foreign.Text(w.meta.at); err == nil && at.Before(started) {
		started = at
	}
	s := foreign.Session{
		Place: w.file.Place(""), ID: sessionID(w.thread), Name: cmp.Or(w.name, w.prompt), Project: r.o.ProjectFor(w.dir), Directory: w.dir,
		StartedAt: started, EndedAt: w.span.Last, Turns: w.turns, State: w.lastKey + " " + strconv.FormatInt(w.file.Size, 10),
	}
	if w.parent != "" {
		s.Parent = sessionID(w.parent)
	}
	return s
}

// sessionID is the id of the host, so that a rollout meets what hooks recorded.
func sessionID(thread string) amber.SessionID { return foreign.HostSessionID("codex", thread) }

// firstMeta returns what the first session_meta says: forks repeat those of their parents behind it.
func firstMeta(ctx context.Context, f foreign.File) (m meta) {
	_ = f.EachLine(ctx, foreign.Quiet, func(n int64, b []byte) error { // the end of ctx ends the next pass, too
		if l, ok := parseLine(b); ok && l.kind == kindMeta {
			m = parseMeta(l.payload)
			return foreign.ErrEnough
		}
		if n >= 20 {
			return foreign.ErrEnough
		}
		return nil
	})
	return m
}

// parts returns digests of the items and compactions of a rollout.
func parts(ctx context.Context, f foreign.File) (out []digest) {
	_ = f.EachLine(ctx, foreign.Quiet, func(_ int64, b []byte) error { // the end of ctx ends the next pass, too
		l, ok := parseLine(b)
		if ok && (l.kind == kindItem || l.kind == kindCompacted) {
			out = append(out, l.digest())
		}
		if len(out) == maxItems {
			return foreign.ErrEnough
		}
		return nil
	})
	return out
}

func (l line) digest() digest {
	var b bytes.Buffer
	b.WriteString(l.kind)
	if json.Compact(&b, l.payload) != nil {
		return digest{}
	}
	sum := sha256.Sum256(b.Bytes())
	return digest(sum[:8])
}

func (w *walk) run(ctx context.Context) error {
	w.at = w.file.ModifiedAt()
	if at, err := foreign.Text(w.meta.at); err == nil {
		w.at = at
	}
	return w.file.EachLine(ctx, w.skip, func(n int64, b []byte) error {
		l, ok := parseLine(b)
		if !ok {
			w.skip(w.file.Line(n), "line is not a JSON object")
			return nil
		}
		return w.line(w.file.Line(n), l)
	})
}

func (w *walk) line(at foreign.Place, l line) error {
	switch l.kind {
	case kindItem, kindCompacted:
	case kindEvent:
		w.event(l)
		return nil
	default:
		return nil
	}
	said := l.digest()
	w.parts++
	w.link(said)
	if !w.own && w.parts <= len(w.replayed) && w.replayed[w.parts-1] == said {
		return nil // the parent's
	}
	w.own = true
	t, ok := w.turn(l, at)
	if !ok {
		return nil
	}
	t.Place = at
	if t.At, ok = w.time(l.at, at); !ok {
		return nil
	}
	return w.give(t)
}

// link adds a line to the digest of all lines so far.
func (w *walk) link(d digest) {
	sum := sha256.Sum256(append(w.chain[:], d[:]...))
	w.chain = [16]byte(sum[:16])
}

// event notes the name that a thread was given.
func (w *walk) event(l line) {
	if !bytes.Contains(l.payload, []byte("thread_name_updated")) {
		return
	}
	if o, err := foreign.ParseObject(l.payload); err == nil && o.Text("type") == "thread_name_updated" {
		w.name = o.Text("thread_name", "name")
	}
}

// time reads the time of a line. A line without one happened after the line before.
func (w *walk) time(text string, at foreign.Place) (amber.Time, bool) {
	if text != "" {
		moment, err := foreign.Text(text)
		if err != nil {
			w.skip(at, "%v", err)
			return moment, false
		}
		w.at = moment
	}
	return w.at, true
}

func (w *walk) give(t foreign.Turn) error {
	w.turns++
	w.lastKey = t.Key[len(t.Key)-1]
	w.span.Add(t.At)
	if w.prompt == "" && t.Role == amber.RoleUser {
		w.prompt = t.Content
	}
	return w.emit(t)
}
