package gemini

import (
	"context"
	"maps"
	"slices"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// giver is the second pass: it gives out the messages that have remained, in their order. A message that was written
// again behind later ones makes the later ones wait.
type giver struct {
	file foreign.File
	dir  string
	to   foreign.Sink
	l    *log
	next int // of the entries
	at   map[place]int
	held map[int]foreign.Turn
	size int
}

func (l *log) giveOut(ctx context.Context, dir string, to foreign.Sink) error {
	g := &giver{file: l.file, dir: dir, to: to, l: l, at: map[place]int{}, held: map[int]foreign.Turn{}}
	for i, e := range l.entries {
		g.at[e.at] = i
	}
	quiet := *l
	quiet.skip = foreign.Quiet
	if err := quiet.scan(ctx, g); err != nil {
		return err
	}
	return g.flush()
}

func (g *giver) rewind(string) {}

func (g *giver) set(at place, o foreign.Object) error { return eachMessage(g, at, o) }

func (g *giver) message(at place, o foreign.Object) error {
	i, ok := g.at[at]
	if !ok {
		return nil
	}
	e := g.l.entries[i]
	t := turn(o, g.dir)
	t.Place, t.Key, t.At = g.file.Place(at.String()), foreign.Key{e.id}, e.time
	g.held[i] = t
	if g.size += len(t.Content); g.size > maxHeld {
		return g.flush() // the order of the log is lost then, and no turn
	}
	return g.give()
}

// give gives out what has come in order.
func (g *giver) give() error {
	for {
		t, ok := g.held[g.next]
		if !ok {
			return nil
		}
		delete(g.held, g.next)
		g.size -= len(t.Content)
		g.next++
		if err := g.to.Turn(t); err != nil {
			return err
		}
	}
}

// flush gives out everything that has come.
func (g *giver) flush() error {
	for _, i := range slices.Sorted(maps.Keys(g.held)) {
		if err := g.to.Turn(g.held[i]); err != nil {
			return err
		}
		g.next = max(g.next, i+1)
	}
	clear(g.held)
	g.size = 0
	return nil
}
