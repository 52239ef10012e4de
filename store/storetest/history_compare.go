package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/amber-memory/amber"
)

// pair is one thing as each store has it.
type pair[T any] map[*world]T

// ask makes the same call on both stores and fails unless both end alike. Ok
// says that both succeeded.
func ask[T any](h *history, call func(w *world) (T, error)) (got pair[T], ok bool) {
	m, merr := call(h.model)
	s, serr := call(h.subject)
	if mk, sk := amber.KindOf(merr), amber.KindOf(serr); mk != sk {
		fail(fmt.Errorf("got error %q (%v), want %q (%v)", sk, serr, mk, merr))
	}
	return pair[T]{h.model: m, h.subject: s}, merr == nil
}

// do is ask for calls that return nothing but an error.
func do(h *history, call func(w *world) error) (ok bool) {
	_, ok = ask(h, func(w *world) (struct{}, error) { return struct{}{}, call(w) })
	return ok
}

// compare is ask for calls whose answers must be equal.
func compare[T any](h *history, what string, call func(w *world) (T, error)) {
	if got, ok := ask(h, call); ok {
		same(h, got, what)
	}
}

// same fails unless both stores have the same.
func same[T any](h *history, got pair[T], what string) {
	want := neutral(tree(got[h.model]), nil)
	if d := diff(neutral(tree(got[h.subject]), h.toModel), want); d != "" {
		fail(fmt.Errorf("%s differs:\n%s", what, d))
	}
}

// bind notes that two ids name the same thing.
func (h *history) bind(model, subject string) {
	m, mok := h.toSubject[model]
	s, sok := h.toModel[subject]
	if mok && m != subject || sok && s != model {
		fail(fmt.Errorf("the model's %s is the subject's %s, and now also %s (the model's %s)", model, m, subject, s))
	}
	h.toSubject[model], h.toModel[subject] = subject, model
}

// uuid finds ids that stores mint.
var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// ownAffair reports whether a field is up to each store.
func ownAffair(field string) bool {
	switch field {
	case "device", "clock", "token", "fence", "position", "provenance", "bytes":
		return true
	}
	return false
}

// neutral returns a tree with ids translated and without the fields that
// are up to each store.
func neutral(v any, ids map[string]string) any {
	switch v := v.(type) {
	case string:
		return translate(v, ids)
	case []any:
		for i := range v {
			v[i] = neutral(v[i], ids)
		}
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if !ownAffair(k) {
				out[translate(k, ids)] = neutral(e, ids)
			}
		}
		return out
	}
	return v
}

func translate(s string, ids map[string]string) string {
	if ids == nil || len(s) < len("00000000-0000-0000-0000-000000000000") {
		return s
	}
	return uuid.ReplaceAllStringFunc(s, func(id string) string {
		if other, known := ids[id]; known {
			return other
		}
		return id
	})
}

// stampLaw remembers the stamps a store gave out.
type stampLaw struct {
	last   amber.Stamp
	of     map[amber.Stamp]string // the revision each was given to
	unseen [][2]amber.Stamp       // between each two, stamps were given out that no answer named
}

// mayKnow reports whether a store may have given out a stamp that no answer named at the time. A
// keyed write that is sent again answers with the revision it made, and the same ingestion may have
// replaced that revision.
func (l *stampLaw) mayKnow(s amber.Stamp) bool {
	return slices.ContainsFunc(l.unseen, func(u [2]amber.Stamp) bool { return u[0] < s && s <= u[1] })
}

// stamped checks the stamp of a revision: the one it had before, or one later
// than every stamp before. The revision is told by the record's id and its
// counter.
func (h *history) stamped(ids pair[string], origins pair[amber.Origin]) {
	for w, o := range origins {
		law := h.stamps[w]
		revision := fmt.Sprint(ids[w], " ", o.Counter)
		switch of, known := law.of[o.Clock]; {
		case known && of != revision:
			fail(fmt.Errorf("%s gives the stamp %s to %s and to %s", w.backend.Name, o.Clock, of, revision))
		case !known && o.Clock <= law.last && !law.mayKnow(o.Clock):
			fail(fmt.Errorf("%s gives the stamp %s after %s", w.backend.Name, o.Clock, law.last))
		}
		law.of[o.Clock] = revision
		law.last = max(law.last, o.Clock)
	}
}

// logMarks are the positions up to which the logs of a store were compared.
type logMarks struct{ memory, control amber.Position }

// compareLogs compares the entries both logs gained since the last time.
func (h *history) compareLogs(anyOrder bool) {
	if h.has[changes] {
		h.compareLog("change log", anyOrder, func(w *world) (amber.ChangeLog, *amber.Position) { return w.Changes, &h.logs[w].memory })
	}
	if h.has[controlLog] {
		h.compareLog("control log", anyOrder, func(w *world) (amber.ChangeLog, *amber.Position) { return w.ControlChanges, &h.logs[w].control })
	}
}

func (h *history) compareLog(what string, anyOrder bool, of func(w *world) (amber.ChangeLog, *amber.Position)) {
	gained := pair[[]amber.Change]{}
	for _, w := range []*world{h.model, h.subject} {
		log, mark := of(w)
		got := entries(w.ctx, log, *mark)
		if len(got) > 0 {
			*mark = got[len(got)-1].Position
		}
		if anyOrder {
			slices.SortStableFunc(got, func(a, b amber.Change) int { return cmp.Compare(h.modelKey(w, a), h.modelKey(w, b)) })
		}
		gained[w] = got
	}
	same(h, gained, "what the "+what+" gained")
}

// modelKey returns the key of an entry as the model has it.
func (h *history) modelKey(w *world, c amber.Change) string {
	if w == h.model {
		return c.Key
	}
	return translate(c.Key, h.toModel)
}

// compareDumps compares everything both stores hold.
func (h *history) compareDumps() {
	n := names{sessions: slices.Concat(h.sessions, phaseSessions()), bindings: bindings(), tasks: h.tasks, journals: h.journals()}
	got := pair[map[string]any]{}
	for _, w := range []*world{h.model, h.subject} {
		got[w] = dump(w.ctx, w.Store, h.has, n)
	}
	same(h, got, "everything the store holds")
}

// byID indexes values, to compare listings whose order is up to ids.
func byID[T any](all []T, id func(T) string) map[string]T {
	return maps.Collect(func(yield func(string, T) bool) {
		for _, v := range all {
			if !yield(id(v), v) {
				return
			}
		}
	})
}
