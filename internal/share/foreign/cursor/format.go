// Package cursor reads what Cursor keeps in files: the rules that people write for it, and the transcripts of its agents.
// Its database is private and changes, and is not read.
package cursor

import (
	"path/filepath"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// name is in ids and links, so it never changes.
const name = "cursor"

// Format is the format of Cursor.
var Format = foreign.Format{Name: name, Title: "Cursor", Detect: detect, Read: read, Homes: homes}

func homes(_ func(string) string, home string) []string {
	return []string{filepath.Join(home, ".cursor")}
}
