package codex

import (
	"context"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Bounds of the name of a note.
const (
	maxSlug = 80
	folder  = "extensions/ad_hoc/notes/"
)

// write writes a note for each memory, for the folder ~/.codex/memories.
func write(ctx context.Context, c foreign.Contents, _ foreign.WriteOptions, to foreign.Output) error {
	taken := map[string]bool{}
	return c.Memories(ctx, func(m amber.Memory) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		text := m.Content + "\n\n" + idMark(m.ID) + "\n"
		name, err := freeName(m, taken, to)
		if err != nil {
			return err
		}
		taken[name] = true
		return foreign.WriteText(to, name, text)
	})
}

func idMark(id amber.MemoryID) string { return "<!-- amber:" + string(id) + " -->" }

// freeName returns the name of the note of a memory. No other memory has that name, and no existing note without the
// mark of this memory.
func freeName(m amber.Memory, taken map[string]bool, to foreign.Output) (string, error) {
	base := folder + m.CreatedAt.Time().UTC().Format(noteTime) + "-"
	unique := foreign.Hex(foreign.Digest(string(m.ID)))
	slug := slugOf(m)
	short := slug[:min(len(slug), maxSlug-len(unique)-1)]
	for _, name := range []string{slug, strings.Trim(short, "-") + "-" + unique[:8], strings.Trim(short, "-") + "-" + unique} {
		name = base + name + ".md"
		if taken[name] {
			continue
		}
		there, err := to.Existing(name)
		if err != nil {
			return "", err
		}
		if there == nil || strings.Contains(string(there), idMark(m.ID)) {
			return name, nil
		}
	}
	return "", amber.Errorf(amber.KindConflict, "write notes of Codex", string(m.ID), "the names for the note are taken by other notes")
}

// slugOf names a memory in 1 to 80 bytes.
func slugOf(m amber.Memory) string {
	for _, s := range []string{m.Title, m.Topic, m.Content, string(m.ID)} {
		s = foreign.Slug(s[:min(len(s), 4*maxSlug)])
		s = strings.Trim(s[:min(len(s), maxSlug)], "-")
		if s != "" {
			return s
		}
	}
	return "memory"
}
