package bundle

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// Source is something that becomes an entry.
type Source struct {
	Path string      // slash-separated; of an empty folder it ends with a slash
	Kind string      // one of the kinds of the format
	Mode fs.FileMode // 0600, or 0700 for what may be executed and for folders; 0: 0600
	Size int64       // exactly what Open gives
	// Prepare, if it is not nil, is called once before Open and returns the size instead, for what is still being made
	// when writing begins.
	Prepare func(ctx context.Context) (size int64, err error)
	// Open returns the bytes; it is not called for a folder. The caller closes what it returns.
	Open func(ctx context.Context) (io.ReadCloser, error)
	// Written is called with the SHA-256 of the bytes once they are in the bundle. It may
	// be nil.
	Written func(digest string)
}

func (s *Source) isFolder() bool { return strings.HasSuffix(s.Path, "/") }

// plan checks sources and brings them into order. The error is of kind invalid, or quota when there are too many.
func plan(sources []Source, checkKind func(path, kind string) error, less func(a, b Source) int) ([]Source, error) {
	const op = "write bundle"
	limits := Limits{}.orDefaults()
	if len(sources) > limits.Entries {
		return nil, amber.Errorf(amber.KindQuota, op, "", "%d entries, the limit is %d", len(sources), limits.Entries)
	}
	list := slices.Clone(sources)
	slices.SortStableFunc(list, less)
	var taken takenPaths
	for i := range list {
		s := &list[i]
		if s.Mode == 0 {
			s.Mode = 0o600
		}
		err := cmp.Or(checkKind(s.Path, s.Kind), taken.add(s.Path), s.check(limits))
		if err != nil {
			return nil, amber.Errorf(amber.KindInvalid, op, "", "%w", err)
		}
	}
	return list, nil
}

func (s *Source) check(l Limits) error {
	_, err := parseMode(modeText(s.Mode))
	switch {
	case err != nil || s.Mode != s.Mode.Perm():
		return fmt.Errorf("%q has mode %v", s.Path, s.Mode)
	case s.isFolder() && (s.Mode != 0o700 || s.Size != 0):
		return fmt.Errorf("a folder %q of another form", s.Path)
	case s.Size < 0 || s.Size > l.EntryBytes:
		return fmt.Errorf("%q has %d bytes, the limit is %d", s.Path, s.Size, l.EntryBytes)
	case !s.isFolder() && s.Open == nil:
		return fmt.Errorf("%q cannot be opened", s.Path)
	}
	return nil
}

// copyTo writes the bytes of a source and returns their digest. A source that is not as long as it says is an error.
func (s *Source) copyTo(ctx context.Context, w io.Writer, buf []byte) (digest string, err error) {
	r, err := s.Open(ctx)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", s.Path, err)
	}
	h := sha256.New()
	n, err := io.CopyBuffer(io.MultiWriter(w, h), &cancelled{ctx, io.LimitReader(r, s.Size)}, buf)
	if err == nil && n == s.Size {
		err = noMore(r)
	}
	err = errors.Join(err, r.Close())
	switch {
	case err != nil:
		return "", fmt.Errorf("copy %s: %w", s.Path, err)
	case n < s.Size:
		return "", amber.Errorf(amber.KindInternal, "copy source", s.Path, "the source has %d bytes, want %d", n, s.Size)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// noMore makes sure that a reader is at its end.
func noMore(r io.Reader) error {
	var one [1]byte
	n, err := io.ReadFull(r, one[:])
	switch {
	case n > 0:
		return errors.New("the source has more bytes than announced")
	case err == io.EOF:
		return nil
	}
	return err
}

// cancelled reads until its context ends.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// archive writes entries to a tar.
type archive struct {
	w       io.Writer
	header  func(header) []byte
	mtime   int64
	buf     []byte
	entries []entry
}

func newArchive(w io.Writer, h func(header) []byte, mtime int64) *archive {
	return &archive{w: w, header: h, mtime: mtime, buf: make([]byte, copyBytes)}
}

// add writes one entry and keeps what there is to say about it.
func (a *archive) add(ctx context.Context, s Source) error {
	if s.Prepare != nil {
		var err error
		if s.Size, err = s.Prepare(ctx); err != nil {
			return err
		}
		if err := s.check(Limits{}.orDefaults()); err != nil {
			return amber.Errorf(amber.KindInvalid, "write bundle", "", "%w", err)
		}
	}
	h := header{path: s.Path, mode: int64(s.Mode.Perm()), size: s.Size, mtime: a.mtime}
	if _, err := a.w.Write(a.header(h)); err != nil {
		return err
	}
	e := entry{Path: s.Path, Kind: s.Kind, Mode: modeText(s.Mode), Size: s.Size}
	if !s.isFolder() {
		var err error
		if e.SHA256, err = s.copyTo(ctx, a.w, a.buf); err != nil {
			return err
		}
		if s.Written != nil {
			s.Written(e.SHA256)
		}
	}
	a.entries = append(a.entries, e)
	_, err := a.w.Write(make([]byte, padding(s.Size)))
	return err
}

// addBytes is add for what is in memory.
func (a *archive) addBytes(ctx context.Context, path, kind string, b []byte) error {
	return a.add(ctx, Source{Path: path, Kind: kind, Mode: 0o600, Size: int64(len(b)), Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(b)), nil
	}})
}

// close writes the end.
func (a *archive) close() error {
	_, err := a.w.Write(make([]byte, tarEnd))
	return err
}
