package gitsync

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
)

// markFile names the chunks that are being written, one in a line, each with
// who writes it. A chunk is in it from before it is in the folder until the
// store knows: a process that died between the two finds its own rows by it, and does
// not write them once more.
const (
	markFile  = "writing"
	maxMarks  = 64
	markBytes = 1 << 14
)

// mark is a line of the file.
type mark struct{ chunk, writer string }

// writerOf names who exports what, without telling it.
func writerOf(device, project string) string {
	return amber.ContentDigest(device + "\x00" + project)[:16]
}

func (s *Sync) markPath() string { return filepath.Join(s.dir, engramLocal, markFile) }

// readMarks returns the marks in the file; lines that are not marks are
// skipped.
func (s *Sync) readMarks() (marks []mark, err error) {
	b, err := fsx.ReadFile(s.fs, s.markPath(), markBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail("read marker", s.markPath(), err)
	}
	for line := range strings.Lines(string(b)) {
		chunk, writer, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if engram.ValidID(chunk) && len(writer) == 16 && len(marks) < maxMarks {
			marks = append(marks, mark{chunk, writer})
		}
	}
	return marks, nil
}

func (s *Sync) putMarks(marks []mark) error {
	if len(marks) == 0 {
		return fail("remove marker", s.markPath(), fsx.RemoveAll(s.fs, s.markPath()))
	}
	var text strings.Builder
	for _, m := range marks[max(0, len(marks)-maxMarks):] {
		fmt.Fprintf(&text, "%s %s\n", m.chunk, m.writer)
	}
	return fail("write marker", s.markPath(), fsx.Replace(s.fs, s.markPath(), 0o644, []byte(text.String())))
}

// leftRow is a row of a chunk that was written and not noted.
type leftRow struct {
	entity  engram.Entity
	chunk   string
	key     string
	ordinal int
}

// link ties the row to its record.
func (l leftRow) link(r amber.SyncRecord) amber.SyncLink {
	link := engram.LinkOf(l.entity, r)
	link.Chunk, link.Ordinal = l.chunk, l.ordinal
	return link
}

// openMarks reads the chunks that were written and not noted.
func (e *engramExporter) openMarks() error {
	marks, err := e.s.readMarks()
	if err != nil {
		return err
	}
	e.left = map[string]leftRow{}
	for _, m := range marks {
		c, key, err := e.s.engramChunk(m.chunk)
		if err != nil {
			continue // it was never written, or is gone
		}
		e.marks = append(e.marks, m)
		e.present[m.chunk] = true
		e.remember(c)
		for i, row := range rowsOf(c) {
			e.left[printOf(row)] = leftRow{row, m.chunk, key, i}
		}
		for _, o := range c.Observations {
			e.next[amber.ChangeMemory] = max(e.next[amber.ChangeMemory], o.ID)
		}
		for _, p := range c.Prompts {
			e.next[amber.ChangeTurn] = max(e.next[amber.ChangeTurn], p.ID)
		}
	}
	return nil
}

// marking says which chunk comes next.
func (e *engramExporter) marking(chunk string) error {
	if e.dry {
		return nil
	}
	e.isMarked = true
	return e.s.putMarks(append(slices.Clone(e.marks), mark{chunk, e.writer}))
}

// unmark forgets the marks of this writer: the store knows everything now.
func (e *engramExporter) unmark() error {
	rest := slices.DeleteFunc(slices.Clone(e.marks), func(m mark) bool { return m.writer == e.writer })
	if !e.isMarked && len(rest) == len(e.marks) {
		return nil
	}
	e.marks, e.isMarked = rest, false
	return e.s.putMarks(rest)
}

// rowsOf returns the rows of a chunk in their order.
func rowsOf(c engram.Chunk) (rows []engram.Entity) {
	for i := range c.Sessions {
		rows = append(rows, engram.Entity{Session: &c.Sessions[i]})
	}
	for i := range c.Observations {
		rows = append(rows, engram.Entity{Observation: &c.Observations[i]})
	}
	for i := range c.Prompts {
		rows = append(rows, engram.Entity{Prompt: &c.Prompts[i]})
	}
	return rows
}

// printOf names a row, and the version that it says it is.
func printOf(e engram.Entity) string {
	print := e.Fingerprint()
	if v, ok := e.Version(); ok {
		print += fmt.Sprint(" ", v.Device, " ", v.Counter, " ", uint64(v.Clock))
	}
	return print
}
