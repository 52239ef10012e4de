package documents

import (
	"context"
	"errors"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/colony"
)

// Target is where documents are restored to.
type Target interface {
	// Refuses says why names cannot be written, by name.
	Refuses(docs colony.Documents) map[string]string
	// Look finds what is stored under a name and compares it with text. Errors:
	// refused when what it finds cannot be replaced.
	Look(ctx context.Context, name, text string) (Found, error)
	// Write writes a document durably over what Look found. Errors: conflict
	// when that has changed since.
	Write(ctx context.Context, name, text string, before Found) error
	// Close releases the target.
	Close() error
}

// Found is what a target stores under the name of a document. The zero value
// means nothing.
type Found struct {
	Exists bool
	Same   bool   // it says the same as the document
	Digest string // of its text
}

// errChanged is the cause when a document is not as it was when the plan was
// made.
var errChanged = errors.New("changed since the restore was planned")

// short quotes the beginning of a name that another program or person wrote.
func short(name string) string {
	q := strconv.Quote(clip.Runes(name, 80))
	return q[1 : len(q)-1]
}

// reason is what an error says without the operation.
func reason(err error) string {
	if e, ok := errors.AsType[*amber.Error](err); ok && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}
