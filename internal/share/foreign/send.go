package foreign

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// Sending is a tree as one stream of bytes, which [OpenUpload] reads. Close it before the tree.
type Sending struct {
	io.ReadCloser
	Name     string    // of the file or folder
	Size     int64     // in bytes; 0: not known before the end
	Modified time.Time // of a file
	tree     *Tree     // of a folder
}

// Skipped returns the files of a folder that were not sent, after Close. Every file of an archive is sent.
func (s *Sending) Skipped() []Skipped {
	if s.tree == nil {
		return nil
	}
	return s.tree.skipped
}

// Send begins to send a tree: a file or an archive as it is, a folder as a zip file that is made while it is read. A database is copied
// first, with what is only in its write-ahead log. Files of a folder that cannot be opened are among
// those that Skipped tells.
func (t *Tree) Send(ctx context.Context) (*Sending, error) {
	name, err := filepath.Abs(t.path)
	if err != nil {
		return nil, amber.Errorf(amber.KindInvalid, "send", t.path, "%w", err)
	}
	s := &Sending{Name: filepath.Base(name)}
	if t.root.open == nil {
		s.ReadCloser, s.tree = t.packing(ctx), t
		return s, nil
	}
	f := t.settled(t.root)
	s.Size, s.Modified = f.Size, f.Modified
	r, err := f.Raw()
	if err != nil {
		return nil, err
	}
	s.ReadCloser = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(r, f.Size), r} // what grows meanwhile is sent another time
	return s, nil
}

// Raw opens a file as it lies there: what is packed stays packed.
func (f File) Raw() (io.ReadCloser, error) {
	r, err := f.open()
	if err != nil {
		return nil, amber.Errorf(kindOf(err), "read file", f.Name, "%w", err)
	}
	if f.read != nil {
		r = &counted{r, f.read}
	}
	return r, nil
}

// packing is the folder as a zip file.
func (t *Tree) packing(ctx context.Context) io.ReadCloser {
	r, w := io.Pipe()
	p := &packing{PipeReader: r, over: make(chan struct{})}
	go func() {
		defer close(p.over)
		_ = w.CloseWithError(t.pack(ctx, w)) // it never fails
	}()
	return p
}

type packing struct {
	*io.PipeReader
	over chan struct{}
}

// Close ends the packing and waits for it.
func (p *packing) Close() error {
	err := p.PipeReader.Close()
	<-p.over
	return err
}

func (t *Tree) pack(ctx context.Context, w io.Writer) error {
	z := NewZip(w)
	for _, f := range t.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.besideDatabase(f) {
			continue // it is in the copy
		}
		if err := t.packFile(z, t.settled(f)); err != nil {
			return err
		}
	}
	return z.Close()
}

func (t *Tree) packFile(z *zip.Writer, f File) error {
	r, err := f.Raw()
	if err != nil {
		t.skip(f.Name, "cannot be read: "+reason(err))
		return nil
	}
	defer r.Close()
	h := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: f.Modified}
	if f.Is(".gz", ".zst", ".zip", ".jpg", ".jpeg", ".png", ".webp", ".mp4") {
		h.Method = zip.Store
	}
	out, err := z.CreateHeader(h)
	if err == nil {
		_, err = io.Copy(out, r)
	}
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return amber.Errorf(amber.KindUnreachable, "send file", f.Name, "%w", err)
	}
	return err
}

// besideDatabase reports whether a file is one that SQLite keeps beside a database of the tree.
func (t *Tree) besideDatabase(f File) bool {
	for _, suffix := range []string{logSuffix, "-shm", journalSuffix} {
		if base, ok := strings.CutSuffix(f.Name, suffix); ok {
			d, there := t.File(base)
			return there && d.IsDatabase()
		}
	}
	return false
}

// settled returns a copy of a database as it is at one instant, in one file; any other file as it is. A database that
// cannot be copied is sent as it lies there, and its reader reports the fault.
func (t *Tree) settled(f File) File {
	if f.real == "" || !f.IsDatabase() {
		return f
	}
	copied, err := t.copyDatabase(f)
	if err != nil {
		return f
	}
	info, err := os.Stat(copied)
	if err != nil {
		return f
	}
	f.Size, f.real, f.open = info.Size(), copied, openReal(copied)
	return f
}
