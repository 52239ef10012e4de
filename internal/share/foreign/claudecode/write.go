package claudecode

import (
	"cmp"
	"context"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// write makes a folder of memories, or adds to one. It leaves a file alone that Amber did not write, or that was
// changed since.
func write(ctx context.Context, c foreign.Contents, _ foreign.WriteOptions, to foreign.Output) error {
	index, err := to.Existing(indexFile)
	if err != nil {
		return err
	}
	w := &writer{to: to, used: map[string]bool{}, written: map[string]string{}}
	if err := w.learn(string(index)); err != nil {
		return err
	}
	err = c.Memories(ctx, func(m amber.Memory) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return w.memory(m)
	})
	if err != nil {
		return err
	}
	return w.index(string(index))
}

type writer struct {
	to      foreign.Output
	used    map[string]bool   // files of this export
	written map[string]string // files of exports before, by the id of the memory
	lines   []entry           // for the index, the newest last
}

// entry is a line of the index.
type entry struct{ file, line string }

var linked = pattern.Of(`\]\(([a-z0-9-]+\.md)\)`)

// learn finds the files that an earlier export made, so that a memory with a new title keeps its file.
func (w *writer) learn(index string) error {
	for _, match := range linked().FindAllStringSubmatch(index, maxIndexLines) {
		b, err := w.to.Existing(match[1])
		if err != nil {
			return err
		}
		if front, _, err := foreign.SplitFront(b); err == nil {
			if id := headOf(front).amberID; id != "" {
				w.written[id] = match[1]
			}
		}
	}
	return nil
}

// memory writes one memory, unless a file of it was changed, or its text is there.
func (w *writer) memory(m amber.Memory) error {
	for _, file := range w.candidates(m) {
		if w.used[file] {
			continue
		}
		b, err := w.to.Existing(file)
		if err != nil {
			return err
		}
		text := render(m, strings.TrimSuffix(file, ".md"))
		switch compare(b, m) {
		case another:
			continue
		case changed:
			return nil
		case untouched:
			if string(b) != text {
				err = foreign.WriteText(w.to, file, text)
			}
		case absent:
			err = foreign.WriteText(w.to, file, text)
		}
		w.used[file] = true
		w.list(m, file)
		return err
	}
	return nil
}

// reserved names mean something to Claude Code, or to some file system.
var reserved = pattern.Of(`^(memory|claude|agents|con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// candidates returns names for the file of a memory, the best first.
func (w *writer) candidates(m amber.Memory) []string {
	slug := ""
	for _, s := range []string{m.Topic, m.Metadata["topic"], m.Title, firstWords(m.Content)} {
		slug = cmp.Or(slug, foreign.ShortSlug(s))
	}
	slug = cmp.Or(slug, "note")
	id := foreign.Slug(string(m.ID))
	var out []string
	if file := w.written[string(m.ID)]; file != "" {
		out = append(out, file)
	}
	if !reserved().MatchString(slug) {
		out = append(out, slug+".md")
	}
	return append(out, slug+"-"+id[max(0, len(id)-8):]+".md", slug+"-"+id+".md") // the end of an id is its random part
}
