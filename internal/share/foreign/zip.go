package foreign

import (
	"archive/zip"
	"compress/flate"
	"io"
)

// NewZip returns a writer of a zip file that a [Tree] reads: no entry is packed so tightly that it looks like one that was made to
// fill a disk.
func NewZip(w io.Writer) *zip.Writer {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return newModest(w) })
	return z
}

// modest packs at most by half of MaxRatio. Where the text would go below that, it is stored as it is.
type modest struct {
	out   *tally
	pack  *flate.Writer
	plain *flate.Writer
	last  *flate.Writer // which of them wrote last
	in    int64
}

func newModest(w io.Writer) (*modest, error) {
	out := &tally{w: w}
	pack, err := flate.NewWriter(out, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	plain, err := flate.NewWriter(out, flate.NoCompression)
	return &modest{out: out, pack: pack, plain: plain, last: pack}, err
}

// Write implements [io.Writer].
func (m *modest) Write(p []byte) (done int, err error) {
	for len(p) > 0 {
		part := p[:min(len(p), 64<<10)]
		if err := m.choose(); err != nil {
			return done, err
		}
		n, err := m.last.Write(part)
		m.in += int64(n)
		done += n
		if err == nil && m.last == m.pack {
			err = m.measure()
		}
		if err != nil {
			return done, err
		}
		p = p[n:]
	}
	return done, nil
}

// measure lets the packer write out what it holds once it may hold too much: only then is known how well it packs.
func (m *modest) measure() error {
	if m.in > freeBytes/2 && m.in > MaxRatio/2*m.out.n {
		return m.pack.Flush()
	}
	return nil
}

// choose takes the writer for the next bytes. Blocks of both may follow each other, since each ends at a whole byte; a
// packer that comes back must not refer to bytes that the other has written.
func (m *modest) choose() error {
	next := m.pack
	if m.in > freeBytes/2 && m.in > MaxRatio/2*m.out.n {
		next = m.plain
	}
	if next == m.last {
		return nil
	}
	err := m.last.Flush()
	next.Reset(m.out)
	m.last = next
	return err
}

// Close implements [io.Closer].
func (m *modest) Close() error { return m.last.Close() }

// tally counts what is written.
type tally struct {
	w io.Writer
	n int64
}

// Write implements [io.Writer].
func (t *tally) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	t.n += int64(n)
	return n, err
}
