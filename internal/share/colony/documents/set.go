package documents

import (
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/wire"
)

// Bounds of what is backed up. A vault takes about ten megabytes.
const (
	MaxDocumentBytes = 8 << 20
	maxDocuments     = 10_000
)

// Set is what a backup holds, what was found and left out, and how often each
// rule took something out.
type Set struct {
	colony.Documents
	Skipped  []wire.Skipped
	Redacted map[string]int // by rule
}

// The parts that a skipped document belongs to.
const (
	PartNotes  = "notes"
	PartFolder = "dir"
	PartInput  = "stdin"
)

// skip notes that something is not in the backup.
func (s *Set) skip(part, path, reason, detail string) {
	s.Skipped = append(s.Skipped, wire.Skipped{Part: part, Path: path, Reason: reason, Detail: detail})
}

// Marked counts the named documents from which secrets were taken out before
// they went to a vault.
func Marked(docs colony.Documents, names []string) (n int64) {
	for _, name := range names {
		if isMarked(docs[name]) {
			n++
		}
	}
	return n
}
