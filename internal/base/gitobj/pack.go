package gitobj

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zlib"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// maxObjects bounds how many objects a repository may have.
const maxObjects = 10_000_000

// packTypes are the numbers of the types in a pack.
var packTypes = map[string]byte{typeCommit: 1, typeTree: 2, typeBlob: 3, typeTag: 4}

const (
	packTemp   = "tmp_amber.pack" // swept with those of git, should its writer die
	packHeader = 12
)

// packWriter writes a pack of whole objects, as many as come. Nothing is synced.
type packWriter struct {
	fsys   fsx.FS
	dir    string // objects/pack
	oidLen int
	file   fsx.File
	buf    *bufio.Writer
	zip    *zlib.Writer
	count  uint32
}

func newPack(fsys fsx.FS, dir string, oidLen int) (*packWriter, error) {
	f, err := fsys.OpenFile(filepath.Join(dir, packTemp), os.O_RDWR|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return nil, err
	}
	p := &packWriter{fsys: fsys, dir: dir, oidLen: oidLen, file: f, buf: bufio.NewWriterSize(f, 256<<10)}
	p.zip, err = zlib.NewWriterLevel(p.buf, zlib.BestSpeed)
	if err == nil {
		_, err = p.buf.Write(make([]byte, packHeader)) // written again once the number of objects is known
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

// add adds an object, whose id is checked, and returns its type.
func (p *packWriter) add(oid string, raw []byte) (kind string, err error) {
	if len(oid) != p.oidLen || !isOID(oid) {
		return "", badObject(oid, "has an id of another length than the refs")
	}
	if p.count == maxObjects {
		return "", amberError(amber.KindQuota, "", fmt.Errorf("more than %d objects", maxObjects))
	}
	if err := checkOID(oid, raw); err != nil {
		return "", err
	}
	kind, content, err := splitRaw(oid, raw)
	if err != nil {
		return "", err
	}
	p.count++
	if _, err := p.buf.Write(entryHeader(packTypes[kind], uint64(len(content)))); err != nil {
		return "", err
	}
	p.zip.Reset(p.buf)
	if _, err := p.zip.Write(content); err != nil {
		return "", err
	}
	return kind, p.zip.Close()
}

// entryHeader is type and size: four bits of the size beside the type, then seven in each byte, the least first.
func entryHeader(kind byte, size uint64) []byte {
	b := []byte{kind<<4 | byte(size&0x0f)}
	for size >>= 4; size > 0; size >>= 7 {
		b[len(b)-1] |= 0x80
		b = append(b, byte(size&0x7f))
	}
	return b
}

// finish completes the pack and returns its path.
func (p *packWriter) finish() (string, error) {
	name, err := p.seal()
	if err = errors.Join(err, p.file.Close()); err != nil {
		return "", err
	}
	path := filepath.Join(p.dir, "pack-"+name+".pack")
	return path, p.fsys.Rename(filepath.Join(p.dir, packTemp), path)
}

// seal writes the header and, after all of it, the hash of the file, and returns that.
func (p *packWriter) seal() (string, error) {
	if err := p.buf.Flush(); err != nil {
		return "", err
	}
	if err := p.writeHeader(); err != nil {
		return "", err
	}
	info, err := p.file.Stat()
	if err != nil {
		return "", err
	}
	h := newHash(p.oidLen)
	if _, err := io.Copy(h, io.NewSectionReader(p.file, 0, info.Size())); err != nil {
		return "", err
	}
	sum := h.Sum(nil)
	_, err = p.file.Write(sum)
	return hex.EncodeToString(sum), err
}

// writeHeader writes the header through a second opening, whose offset is the start.
func (p *packWriter) writeHeader() error {
	header := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), p.count)
	f, err := p.fsys.OpenFile(filepath.Join(p.dir, packTemp), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(header)
	return errors.Join(err, f.Close())
}

// abort gives the pack up.
func (p *packWriter) abort() error {
	return errors.Join(p.file.Close(), fsx.Remove(p.fsys, filepath.Join(p.dir, packTemp)))
}
