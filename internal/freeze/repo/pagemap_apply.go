package repo

import (
	"errors"
	"fmt"
)

var errMapTooLarge = errors.New("the maps of the database are too large")

// apply changes a whole map. The result has every page once; a chunk may be
// there several times, or unused: see settle. After an error the map is of no
// use. An error is damage of one of the two.
func (m *pageMap) apply(c *pageMap) error {
	switch {
	case m.change || !c.change:
		return errors.New("want a whole map first, then changes only")
	case c.pageSize != m.pageSize:
		return fmt.Errorf("the change has pages of %d bytes, the map of %d", c.pageSize, m.pageSize)
	case len(m.chunks)+len(c.chunks) > maxMapChunks || len(m.runs)+2*len(c.runs) > maxMapRuns:
		return errMapTooLarge
	}
	base := uint32(len(m.chunks))
	merged := merging{old: m.runs, out: make([]pageRun, 0, len(m.runs)+2*len(c.runs))}
	next := int64(1)
	for _, r := range c.runs {
		if err := merged.keep(next, int64(r.first)); err != nil {
			return err
		}
		next = r.end()
		r.chunk += base
		merged.out = append(merged.out, r)
	}
	if err := merged.keep(next, c.pages+1); err != nil {
		return err
	}
	m.runs, m.pages = merged.out, c.pages
	m.chunks = append(m.chunks, c.chunks...)
	return nil
}

// merging copies parts of runs, from the first to the last.
type merging struct {
	old, out []pageRun
}

// keep copies the old places of the pages from a page up to another one, which
// is not kept.
func (g *merging) keep(from, to int64) error {
	for from < to {
		for len(g.old) > 0 && g.old[0].end() <= from {
			g.old = g.old[1:]
		}
		if len(g.old) == 0 || int64(g.old[0].first) > from {
			return fmt.Errorf("the pages from %d are not mapped", from)
		}
		r := g.old[0]
		skip := uint32(from - int64(r.first))
		end := min(r.end(), to)
		g.out = append(g.out, pageRun{uint32(from), uint32(end - from), r.chunk, r.place + skip})
		from = end
	}
	return nil
}

// settle brings a map into the form in which it is stored: each chunk once,
// in the order of first use, no unused one, and runs as long as possible.
func (m *pageMap) settle() {
	number := make(map[ID]uint32, len(m.chunks))
	chunks := make([]ID, 0, len(m.chunks))
	runs := m.runs
	m.runs = runs[:0]
	for _, r := range runs {
		id := m.chunks[r.chunk]
		n, ok := number[id]
		if !ok {
			n = uint32(len(chunks))
			number[id] = n
			chunks = append(chunks, id)
		}
		r.chunk = n
		m.add(r)
	}
	m.chunks = chunks
}
