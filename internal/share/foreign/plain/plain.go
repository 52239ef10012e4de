// Package plain writes memories as a list of lines, which the memory import page of Claude takes, and people read.
package plain

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Format is a list with a line "[2026-01-02] - text" for each memory. Nothing tells such a file from other texts, so it is
// only written.
var Format = foreign.Format{
	Name:   "plain",
	Title:  "Plain text list",
	Detect: func(*foreign.Tree) foreign.Match { return foreign.No },
	Write:  write,
}

func write(ctx context.Context, c foreign.Contents, _ foreign.WriteOptions, to foreign.Output) error {
	return foreign.WriteFile(to, "", func(w *bufio.Writer) error {
		return c.Memories(ctx, func(m amber.Memory) error {
			text := oneLine(m.Content)
			if text == "" {
				return nil
			}
			_, err := fmt.Fprintf(w, "[%s] - %s\n", m.CreatedAt.Time().Format(time.DateOnly), text)
			return err
		})
	})
}

// oneLine puts a space in the place of line breaks and of the spaces around them.
func oneLine(s string) string {
	var kept []string
	for line := range strings.FieldsFuncSeq(s, isBreak) {
		if line = strings.TrimSpace(line); line != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, " ")
}

// isBreak reports whether a reader may take r for the end of a line.
func isBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}
