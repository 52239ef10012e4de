package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/freeze/envelope"
)

// amberManifestName is the entry that Amber adds to the other format.
const amberManifestName = "amber-manifest.json"

// sink takes the entries of a bundle. Its errors have a kind.
type sink interface {
	// file returns where the bytes of a file go; the caller closes it.
	file(path string, mode fs.FileMode) (io.WriteCloser, error)
	folder(path string) error
}

// walk reads the entries of a tar.
type walk struct {
	tar     io.Reader
	next    func(io.Reader) (header, bool, error)
	kept    []string // entries that are kept in memory and go to no sink
	inOrder bool     // the paths must be in order, and manifest.json last
	limits  Limits
	sink    sink

	entries []entry           // found, kinds unknown; those that are kept too
	memory  map[string][]byte // those that are kept
	mtimes  map[int64]bool
	taken   takenPaths
	buf     []byte
}

// run reads the tar to its end. An error that it returns without a kind is damage.
func (w *walk) run() error {
	w.memory, w.mtimes, w.buf = map[string][]byte{}, map[int64]bool{}, make([]byte, aheadBytes)
	for {
		h, end, err := w.next(w.tar)
		if err != nil {
			return err
		}
		if end {
			return nil
		}
		if err := w.entry(h); err != nil {
			return err
		}
	}
}

func (w *walk) entry(h header) error {
	if err := w.admit(h); err != nil {
		return err
	}
	e := entry{Path: h.path, Mode: modeText(fs.FileMode(h.mode)), Size: h.size}
	w.mtimes[h.mtime] = true
	var err error
	if h.isFolder() {
		err = w.sink.folder(h.path)
	} else {
		e.SHA256, err = w.bytes(h)
	}
	if err != nil {
		return err
	}
	w.entries = append(w.entries, e)
	pad := make([]byte, padding(h.size))
	if _, err := io.ReadFull(w.tar, pad); err != nil {
		return noEnd(err)
	}
	if !isZero(pad) {
		return fmt.Errorf("data follows the content of entry %q", h.path)
	}
	return nil
}

// admit looks at an entry before anything is done with it.
func (w *walk) admit(h header) error {
	if err := CheckPath(h.path); err != nil {
		return fmt.Errorf("path %q: %v", clip.Name(h.path), err)
	}
	if err := w.taken.add(h.path); err != nil {
		return err
	}
	if len(w.entries) > w.limits.Entries {
		return quota("too many entries", int64(w.limits.Entries))
	}
	if h.size > w.limits.EntryBytes {
		return quota(fmt.Sprintf("entry %q has %d bytes", h.path, h.size), w.limits.EntryBytes)
	}
	if !w.inOrder || len(w.entries) == 0 {
		return nil
	}
	switch last := w.entries[len(w.entries)-1].Path; {
	case last == manifestName:
		return fmt.Errorf("entry %q behind the manifest", h.path)
	case h.path != manifestName && h.path < last:
		return fmt.Errorf("entry %q is out of order", h.path)
	}
	return nil
}

// bytes reads a file and returns its digest.
func (w *walk) bytes(h header) (string, error) {
	sum := sha256.New()
	for _, name := range w.kept {
		if h.path == name {
			b, err := w.keep(h)
			w.memory[h.path] = b
			return envelope.Digest(b), err
		}
	}
	out, err := w.sink.file(h.path, fs.FileMode(h.mode))
	if err != nil {
		return "", err
	}
	// The reader is hidden behind a plain one, or its own way of copying would go around the digest's buffer.
	n, err := io.CopyBuffer(summed{out, sum}, struct{ io.Reader }{io.LimitReader(w.tar, h.size)}, w.buf)
	if err == nil && n < h.size {
		err = noEnd(io.EOF)
	}
	return hex.EncodeToString(sum.Sum(nil)), errors.Join(err, out.Close())
}

func (w *walk) keep(h header) ([]byte, error) {
	if h.size > w.limits.ManifestBytes {
		return nil, quota(fmt.Sprintf("%s has %d bytes", h.path, h.size), w.limits.ManifestBytes)
	}
	b, err := io.ReadAll(io.LimitReader(w.tar, h.size)) // not by what the header says: it may lie
	if err == nil && int64(len(b)) < h.size {
		err = noEnd(io.EOF)
	}
	return b, err
}

// listed returns the entries that were not kept.
func (w *walk) listed() []entry {
	var out []entry
	for _, e := range w.entries {
		if _, kept := w.memory[e.Path]; !kept {
			out = append(out, e)
		}
	}
	return out
}

// zeros makes sure that nothing but zeros follows, at most some of them, and reads to the end.
func zeros(r io.Reader, most int64) error {
	buf := make([]byte, 4096)
	for n := int64(0); ; {
		k, err := r.Read(buf)
		n += int64(k)
		switch {
		case !isZero(buf[:k]) || n > most:
			return errors.New("data follows the end of the archive")
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// nowhere is a sink that keeps nothing.
type nowhere struct{}

func (nowhere) file(string, fs.FileMode) (io.WriteCloser, error) { return nowhere{}, nil }
func (nowhere) folder(string) error                              { return nil }
func (nowhere) Write(p []byte) (int, error)                      { return len(p), nil }
func (nowhere) Close() error                                     { return nil }
