package foreign

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber"
)

// addZip adds the entries of a zip file, which lies at real, below a name; "" for the root.
func (t *Tree) addZip(below, real string, level int) error {
	z, err := zip.OpenReader(real)
	if err != nil {
		return amber.Errorf(amber.KindDamaged, opOpen, path.Join(below), "zip file cannot be read: %w", err)
	}
	t.closers = append(t.closers, z)
	if len(z.File)+len(t.files) > MaxFiles {
		return amber.Errorf(amber.KindInvalid, opOpen, below, "zip file holds %d entries, the limit is %d", len(z.File), MaxFiles)
	}
	seen := map[string]bool{}
	for _, e := range z.File {
		name := path.Join(below, e.Name)
		if why := badEntry(e.Name, e.Mode()); why != "" {
			t.skip(name, why)
			continue
		}
		if e.FileInfo().IsDir() {
			continue
		}
		if seen[name] {
			t.skip(name, "is in the archive twice; the first is read")
			continue
		}
		seen[name] = true
		t.addEntry(name, e, level)
	}
	return nil
}

func (t *Tree) addEntry(name string, e *zip.File, level int) {
	packed, size := int64(e.CompressedSize64), int64(e.UncompressedSize64)
	if size < 0 || size > MaxEntryBytes {
		t.skip(name, fmt.Sprintf("has %d bytes unpacked, the limit is %d", e.UncompressedSize64, int64(MaxEntryBytes)))
		return
	}
	f := File{Name: name, Size: size, Modified: e.Modified, open: func() (io.ReadCloser, error) {
		r, err := e.Open()
		if err != nil {
			return nil, err
		}
		return &bounded{r: r, closers: []io.Closer{r}, packed: packed}, nil
	}}
	if !f.Is(".zip") || !isZip(f) {
		t.files = append(t.files, f)
		return
	}
	if level >= maxNesting {
		t.skip(name, fmt.Sprintf("is an archive in an archive in an archive; at most %d are opened", maxNesting))
		return
	}
	real, err := t.Local(f)
	if err == nil {
		err = t.addZip(name, real, level+1)
	}
	if err != nil {
		t.skip(name, err.Error())
	}
}

// badEntry says why an entry of an archive is not read; "" if it is.
func badEntry(name string, mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "is a symbolic link; links are not followed"
	case mode&fs.ModeType != 0 && !mode.IsDir():
		return "is " + mode.Type().String() + ", want a file"
	case strings.ContainsAny(name, "\\\x00"), !fs.ValidPath(strings.TrimSuffix(name, "/")):
		return "has a name that does not stay within the archive"
	}
	return ""
}

// addTar copies the entries of a tar file: it can only be read from its beginning.
func (t *Tree) addTar(f File) error {
	r, err := f.Open()
	if err == nil && f.Is(".tgz") {
		r, err = unzip(r, f.Size)
	}
	if err != nil {
		return amber.Errorf(amber.KindDamaged, opOpen, f.Name, "%w", err)
	}
	defer r.Close()
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && len(t.files) == 0 {
			return amber.Errorf(amber.KindDamaged, opOpen, f.Name, "tar file cannot be read: %w", err)
		}
		if err != nil {
			t.skip(f.Name, "the rest of the archive cannot be read: "+err.Error())
			return nil
		}
		if err := t.addTarEntry(in, h); err != nil {
			return err
		}
	}
}

func (t *Tree) addTarEntry(in io.Reader, h *tar.Header) error {
	name := path.Clean(h.Name)
	mode := h.FileInfo().Mode()
	if h.Typeflag == tar.TypeLink {
		mode |= fs.ModeSymlink
	}
	switch why := badEntry(name, mode); {
	case mode.IsDir():
		return nil
	case why != "":
		t.skip(h.Name, why)
		return nil
	case h.Size > MaxEntryBytes:
		t.skip(name, fmt.Sprintf("has %d bytes unpacked, the limit is %d", h.Size, int64(MaxEntryBytes)))
		return nil
	case len(t.files) >= MaxFiles:
		return amber.Errorf(amber.KindInvalid, opOpen, name, "tar file holds more than %d files, the limit", MaxFiles)
	}
	real, err := t.copyOut(in, name)
	if err != nil {
		t.skip(name, err.Error())
		return nil
	}
	t.files = append(t.files, File{Name: name, Size: h.Size, Modified: h.ModTime, real: real, open: openReal(real)})
	return nil
}

// bounded reads what is unpacked and stops where that is too much for what it came from.
type bounded struct {
	r       io.Reader
	closers []io.Closer
	packed  int64 // bytes it came from
	n       int64
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	switch {
	case b.n > MaxEntryBytes:
		return 0, amber.Errorf(amber.KindInvalid, "unpack", "", "file has more than %d bytes unpacked, the limit", int64(MaxEntryBytes))
	case b.n > freeBytes && b.n > MaxRatio*max(b.packed, 1):
		return 0, amber.Errorf(amber.KindInvalid, "unpack", "", "file unpacks to more than %d times its size, the limit", MaxRatio)
	}
	return n, err
}

// Close implements [io.Closer].
func (b *bounded) Close() error {
	var errs []error
	for _, c := range b.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

func unzip(r io.ReadCloser, packed int64) (io.ReadCloser, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, errors.Join(amber.Errorf(amber.KindDamaged, "unpack", "", "gzip file cannot be read: %w", err), r.Close())
	}
	return &bounded{r: z, closers: []io.Closer{z, r}, packed: packed}, nil
}

// maxWindow bounds the memory of one zstd stream.
const maxWindow = 32 << 20

func unzstd(r io.ReadCloser, packed int64) (io.ReadCloser, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, errors.Join(amber.Errorf(amber.KindDamaged, "unpack", "", "zstd file cannot be read: %w", err), r.Close())
	}
	return &bounded{r: z, closers: []io.Closer{z.IOReadCloser(), r}, packed: packed}, nil
}
