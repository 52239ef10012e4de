package gitobj

import (
	"bytes"
	"io"
	"path/filepath"

	"github.com/klauspost/compress/zlib"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// maxLoose bounds what a file holds that is read here, header and content.
const maxLoose = MaxObjectBytes + 32

// looseReader reads objects that lie in files of their own.
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
