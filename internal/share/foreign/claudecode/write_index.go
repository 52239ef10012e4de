package claudecode

import (
	"cmp"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Claude Code loads no more of the index.
const (
	maxIndexLines = 200
	maxIndexBytes = 25_000
)

var plainLink = strings.NewReplacer("[", "(", "]", ")")

// list notes a line for the index. Where there are too many memories, only the newest find room.
func (w *writer) list(m amber.Memory, file string) {
	title := strings.TrimSpace(clip.Bytes(plainLink.Replace(clip.Line(cmp.Or(m.Title, strings.TrimSuffix(file, ".md")))), 80))
	line := "- [" + title + "](" + file + ")"
	if about := hook(m, 100); about != "" && about != title {
		line += " — " + about
	}
	if len(w.lines) == maxIndexLines {
		w.lines = slices.Delete(w.lines, 0, 1)
	}
	w.lines = append(w.lines, entry{file, line + "\n"})
}

// index adds what is new to the index, the newest memories first to find room. It keeps the text that is in the index.
func (w *writer) index(text string) error {
	was := text
	if text == "" {
		text = "# Memory\n\n"
	} else if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	lines, bytes := strings.Count(text, "\n"), len(text)
	var added []string
	for _, e := range slices.Backward(w.lines) {
		if strings.Contains(was, "]("+e.file+")") {
			continue
		}
		if lines+1 >= maxIndexLines || bytes+len(e.line) >= maxIndexBytes {
			break
		}
		lines, bytes = lines+1, bytes+len(e.line)
		added = append(added, e.line)
	}
	if len(added) == 0 {
		return nil
	}
	slices.Reverse(added)
	return foreign.WriteText(w.to, indexFile, text+strings.Join(added, ""))
}
