package statedir

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/store/home"
)

// turn names the turn that writers of documents take.
const turn = "state"

// Options say how documents are kept.
type Options struct {
	FS fsx.FS // nil: the operating system's
}

// Dir is the runtime state of one agent. It holds nothing open and is safe for
// concurrent use, also by several processes.
//
// Errors of all methods, beside those of [amber.Documents]: not_found when there
// is no such agent; busy when the turn does not come in time; refused for a
// folder that may not be used; internal when the disk does not answer.
type Dir struct {
	agent *home.Agent
	fs    fsx.FS
}

var _ amber.Documents = (*Dir)(nil)

// New returns the documents of an agent. It touches no disk: the first document
// makes the folder. The error is of kind invalid.
func New(agent *home.Agent, o Options) (*Dir, error) {
	if agent == nil {
		return nil, amber.Errorf(amber.KindInvalid, "open documents", "", "an agent is required")
	}
	if o.FS == nil {
		o.FS = fsx.OS()
	}
	return &Dir{agent: agent, fs: o.FS}, nil
}

// read runs fn on the live generation, and again when another one became live
// meanwhile: the folder that fn looked at may have been half removed.
func (d *Dir) read(ctx context.Context, op string, fn func(folder) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return &amber.Error{Op: op, Kind: amber.KindUnreachable, Err: err}
		}
		c, err := d.agent.Current()
		if err == nil {
			err = d.agent.Gone(c)
		}
		if err != nil {
			return err
		}
		err = fn(d.folder(c))
		if now, cerr := d.agent.Current(); cerr != nil {
			return cerr
		} else if now == c {
			return err
		}
	}
}

// write runs fn in its turn among the writers of documents.
func (d *Dir) write(ctx context.Context, fn func(folder) error) error {
	return d.agent.Write(ctx, turn, func(c home.Current) error { return fn(d.folder(c)) })
}

// PutDocument implements [amber.Documents].
func (d *Dir) PutDocument(ctx context.Context, w amber.DocumentWrite) (amber.Document, error) {
	w, err := w.Normalize()
	if err != nil {
		return amber.Document{}, err
	}
	err = d.write(ctx, func(f folder) error { return f.put(w) })
	if err != nil {
		return amber.Document{}, err
	}
	return w.Result(), nil
}

// ReadDocument implements [amber.Documents].
func (d *Dir) ReadDocument(ctx context.Context, name string) (doc amber.Document, err error) {
	const op = "read document"
	if err := amber.CheckDocumentName(name); err != nil {
		return amber.Document{}, err
	}
	err = d.read(ctx, op, func(f folder) (err error) {
		doc, err = f.get(op, name)
		return err
	})
	return doc, err
}

// ListDocuments implements [amber.Documents].
func (d *Dir) ListDocuments(ctx context.Context) (list []amber.Document, err error) {
	const op = "list documents"
	err = d.read(ctx, op, func(f folder) (err error) {
		list, err = f.list(ctx, op)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// DeleteDocument implements [amber.Documents].
func (d *Dir) DeleteDocument(ctx context.Context, name, ifRevision string) error {
	if err := amber.CheckDocumentName(name); err != nil {
		return err
	}
	if err := amber.CheckRevision(ifRevision); err != nil {
		return err
	}
	return d.write(ctx, func(f folder) error { return f.remove(name, ifRevision) })
}
