package foreign

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/strictjson"
)

// Contents is what a format is given to write. Each method may be called several times.
type Contents interface {
	// Memories calls fn with every live memory that may leave, newest first.
	Memories(ctx context.Context, fn func(amber.Memory) error) error
	// Versions returns every version of a memory, oldest first, as it may leave.
	Versions(ctx context.Context, id amber.MemoryID) ([]amber.SyncMemory, error)
	// Relations calls fn with every live relation of two such memories.
	Relations(ctx context.Context, fn func(amber.Relation) error) error
	// Sessions calls fn with every conversation that may leave; turns gives out what was said.
	Sessions(ctx context.Context, fn func(s amber.Session, turns func(func(amber.Turn) error) error) error) error
	// Notes calls fn with every note that may leave, by name.
	Notes(ctx context.Context, fn func(amber.Note) error) error
}

// WriteOptions say how contents are written.
type WriteOptions struct {
	Project string // the one that was asked for; "" for all
	At      amber.Time
	Agent   amber.AgentID
}

// Output is where a format writes. A file is in place when all of it is written, not before.
type Output interface {
	// Create begins a file; "" is the file itself of a format that writes one. A name that leaves the folder is an error.
	Create(name string) (io.WriteCloser, error)
	// Existing returns a file that is there before the export; nil where there is none.
	Existing(name string) ([]byte, error)
}

// WriteFile writes one file of an output; fill writes its text.
func WriteFile(to Output, name string, fill func(w *bufio.Writer) error) error {
	file, err := to.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 64<<10)
	if err = fill(w); err == nil {
		err = w.Flush()
	}
	return errors.Join(err, file.Close())
}

// WriteText writes one file of an output.
func WriteText(to Output, name, text string) error {
	return WriteFile(to, name, func(w *bufio.Writer) error {
		_, err := w.WriteString(text)
		return err
	})
}

// JSON returns a value as JSON on one line, in which "<", ">" and "&" stay as they are. It is for values of texts, numbers,
// lists and objects, which always encode.
func JSON(v any) json.RawMessage {
	b, err := strictjson.Line(v)
	if err != nil {
		panic("foreign: texts and numbers always encode: " + err.Error())
	}
	return b
}
