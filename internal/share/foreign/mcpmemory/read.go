package mcpmemory

import (
	"context"
	"errors"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// maxHeld bounds the bytes of entities that wait for more of their name.
const maxHeld = 256 << 20

// reader reads a graph twice: first which names there are and how often, then what they say. Only an entity that is there
// several times is held until its last part.
type reader struct {
	to      foreign.Sink
	o       foreign.Options
	left    map[[16]byte]int
	waiting map[string]*entity
	held    int
	told    foreign.Seen // relations
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	r := &reader{to: quiet{to}, o: o, left: map[[16]byte]int{}, waiting: map[string]*entity{}, told: foreign.Seen{}}
	var files []foreign.File
	for _, f := range candidates(t) {
		if isSingle(t) || isOwn(f) || fits(f) {
			files = append(files, f)
		}
	}
	for _, pass := range []func(foreign.Place, foreign.File, foreign.Fields, bool) error{r.count, r.tell} {
		for _, f := range files {
			if err := r.file(ctx, f, pass); err != nil {
				return err
			}
		}
		r.to = to // what is broken is told once
	}
	return nil
}

// quiet is a sink for the first pass, which would report everything twice.
type quiet struct{ foreign.Sink }

// Skip implements [foreign.Sink].
func (quiet) Skip(foreign.Place, string, ...any) {}

func (r *reader) file(ctx context.Context, f foreign.File, pass func(foreign.Place, foreign.File, foreign.Fields, bool) error) error {
	return f.EachLine(ctx, r.to.Skip, func(n int64, line []byte) error {
		at := f.Line(n)
		err := scan(line, func(m foreign.Fields, torn bool) error { return pass(at, f, m, torn) })
		if broken, ok := errors.AsType[*brokenError](err); ok {
			r.to.Skip(at, "%v", broken)
			return nil
		}
		return err
	})
}

func digest(name string) [16]byte {
	sum := foreign.Digest(name)
	return [16]byte(sum[:16])
}

// count is the first pass.
func (r *reader) count(_ foreign.Place, _ foreign.File, m foreign.Fields, _ bool) error {
	if e, ok := entityOf(m); ok && e.name != "" {
		r.left[digest(e.name)]++
	}
	return nil
}

// tell is the second pass: it gives out the memories.
func (r *reader) tell(at foreign.Place, f foreign.File, m foreign.Fields, torn bool) error {
	e, ok := entityOf(m)
	switch {
	case ok && e.name == "":
		r.to.Skip(at, "entity has no name")
	case ok:
		e.place, e.at = at, f.ModifiedAt()
		return r.entity(e)
	case isRelation(m):
		return r.relation(at, f, relationOf(m))
	case m.Text("type") == "" && !torn: // within a torn object, a part of it
		r.to.Skip(at, "object is neither an entity nor a relation: it has no type")
	}
	return nil
}

func (r *reader) entity(e entity) error {
	k := digest(e.name)
	r.left[k]--
	w := r.waiting[e.name]
	switch {
	case w == nil && r.left[k] == 0:
		return r.to.Memory(e.memory(r.o))
	case w == nil:
		w = &e
		r.waiting[e.name] = w
		for _, s := range e.observations {
			r.held += len(s)
		}
	case r.held > maxHeld:
		r.to.Skip(e.place, "entity %.100q is here several times, and there are more than %d bytes of such entities, the limit", e.name, maxHeld)
	default:
		r.held += w.join(e)
	}
	if r.left[k] > 0 {
		return nil
	}
	delete(r.waiting, e.name)
	for _, s := range w.observations {
		r.held -= len(s)
	}
	return r.to.Memory(w.memory(r.o))
}

func (r *reader) relation(at foreign.Place, f foreign.File, x relation) error {
	if x.typ == "" {
		x.typ = "related"
	}
	for _, end := range []string{x.from, x.to} {
		if _, ok := r.left[digest(end)]; !ok {
			r.to.Skip(at, "relation %.100q from %.100q to %.100q: there is no entity %.100q", x.typ, x.from, x.to, end)
			return nil
		}
	}
	if r.told.Add(foreign.Key{x.from, x.to, x.typ}) != foreign.First {
		return nil
	}
	return r.to.Relation(foreign.Relation{
		Place: at, From: foreign.Key{name, x.from}, To: foreign.Key{name, x.to}, Type: x.typ, Strength: 1, CreatedAt: f.ModifiedAt(),
	})
}
