package gitobj

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zlib"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// maxLoose bounds what a file holds that is read here, header and content.
const maxLoose = MaxObjectBytes + 32

// looseReader reads objects that lie in files of their own, which takes git several times as long.
type looseReader struct {
	fsys fsx.FS
	dir  string // objects
	zip  io.ReadCloser
}

func (l *looseReader) path(oid string) string { return filepath.Join(l.dir, oid[:2], oid[2:]) }

// has reports whether there is a file for the object.
func (l *looseReader) has(oid string) bool {
	info, err := l.fsys.Lstat(l.path(oid))
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// read returns an object that is what its id says; false when there is none here.
func (l *looseReader) read(oid string) (raw []byte, ok bool) {
	packed, err := fsx.ReadFile(l.fsys, l.path(oid), maxLoose)
	if err != nil {
		return nil, false
	}
	raw, err = l.inflate(packed)
	if err != nil || checkOID(oid, raw) != nil {
		return nil, false
	}
	return raw, true
}

func (l *looseReader) inflate(packed []byte) (raw []byte, err error) {
	in := bytes.NewReader(packed)
	if l.zip == nil {
		l.zip, err = zlib.NewReader(in)
	} else {
		err = l.zip.(zlib.Resetter).Reset(in, nil)
	}
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(make([]byte, 0, min(4*len(packed), 8<<20)))
	n, err := out.ReadFrom(io.LimitReader(l.zip, maxLoose+1))
	if err == nil && n > maxLoose {
		err = fsx.ErrTooLarge
	}
	return out.Bytes(), err
}

// idFile is a list of ids in a temporary file.
type idFile struct {
	file fsx.File
	buf  bytes.Buffer // what is not in the file yet
	path string
	some bool
}

func newIDFile(dir string) (*idFile, error) {
	path := filepath.Join(dir, "amber-oids")
	f, err := fsx.OS().OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return nil, err
	}
	return &idFile{file: f, path: path}, nil
}

func (s *idFile) empty() bool { return !s.some }

func (s *idFile) add(oid string) error {
	s.some = true
	s.buf.WriteString(oid + "\n")
	if s.buf.Len() < 64<<10 {
		return nil
	}
	_, err := s.buf.WriteTo(s.file)
	return err
}

// reader returns the ids from the first on.
func (s *idFile) reader() (io.Reader, error) {
	if _, err := s.buf.WriteTo(s.file); err != nil {
		return nil, err
	}
	info, err := s.file.Stat()
	if err != nil {
		return nil, err
	}
	return io.NewSectionReader(s.file, 0, info.Size()), nil
}

func (s *idFile) close() error { return s.file.Close() }
