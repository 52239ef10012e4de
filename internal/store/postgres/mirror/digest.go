package mirror

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"

	"github.com/amber-memory/amber/internal/store/rowfile"
)

// digest is over the rows of a table. Both sides make it of the same bytes: for each value its kind, its
// length where that is not fixed, and itself.
type digest struct {
	hash hash.Hash
	buf  []byte
	rows int64
}

func newDigest(t rowfile.Table) *digest {
	d := &digest{hash: sha256.New()}
	d.text('t', t.Name)
	for _, c := range t.Columns {
		d.text('c', c.Name)
	}
	d.flush()
	return d
}

func (d *digest) text(kind byte, s string) {
	d.buf = append(binary.BigEndian.AppendUint64(append(d.buf, kind), uint64(len(s))), s...)
}

func (d *digest) flush() {
	d.hash.Write(d.buf)
	d.buf = d.buf[:0]
}

// add takes a row: nil, int64, float64, string or []byte.
func (d *digest) add(row []any) error {
	d.rows++
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			d.buf = append(d.buf, 0)
		case int64:
			d.buf = binary.BigEndian.AppendUint64(append(d.buf, 1), uint64(v))
		case float64:
			if v == 0 {
				v = 0 // SQLite knows one zero
			}
			d.buf = binary.BigEndian.AppendUint64(append(d.buf, 2), math.Float64bits(v))
		case string:
			d.text(3, v)
		case []byte:
			d.buf = append(binary.BigEndian.AppendUint64(append(d.buf, 4), uint64(len(v))), v...)
		default:
			return fmt.Errorf("a column is a %T, which no table has", v)
		}
	}
	d.flush()
	return nil
}

func (d *digest) sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }

func (d *digest) table(file string, t rowfile.Table) Table {
	return Table{File: file, Name: t.Name, Rows: d.rows, Digest: d.sum()}
}
