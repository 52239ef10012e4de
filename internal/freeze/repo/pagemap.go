package repo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A map says in which blobs of pages, here called chunks, the pages of a
// database lie. Header:
//
//	 0   8  magic "AmberMap"
//	 8   4  version, 1
//	12   4  flags, 0
//	16   4  1 whole map, 2 change to the maps before it
//	20   4  page size
//	24   8  pages of the database
//	32   4  number of chunks
//	36   4  number of runs
//	40      ids of the chunks, 32 bytes each, in the order of their first use
//	        by a run; then the runs, in the order of pages
//
// A run is
//
//	 0   4  its first page, from 1
//	 4   4  number of pages
//	 8   4  number of the chunk, from 0
//	12   4  page of the chunk where it begins, from 0
const (
	mapMagic       = "AmberMap"
	mapHeaderBytes = 40
	mapRunBytes    = 16
	mapWhole       = 1
	mapChange      = 2
)

// Bounds of databases. A map must fit into a blob, and reading or
// writing a database takes 32 bytes of memory for each page.
const (
	maxDatabasePages = 1 << 25
	maxMapChanges    = 16      // behind a whole map
	maxMapRuns       = 1 << 22 // of a map to which changes have been applied
	maxMapChunks     = 1 << 21
)

// pageRun is pages of a database that lie one behind another in a chunk. Its
// 16 bytes are what a run costs in memory.
type pageRun struct{ first, pages, chunk, place uint32 }

// end returns the page behind the last one.
func (r pageRun) end() int64 { return int64(r.first) + int64(r.pages) }

// continuedBy reports whether n is the same run still.
func (r pageRun) continuedBy(n pageRun) bool {
	return r.end() == int64(n.first) && r.chunk == n.chunk &&
		int64(r.place)+int64(r.pages) == int64(n.place) && int64(r.pages)+int64(n.pages) <= math.MaxUint32
}

// pageMap is a map, or the sum of several.
type pageMap struct {
	change   bool
	pageSize int
	pages    int64
	chunks   []ID
	runs     []pageRun
	keys     []string // of one that was read: what its blobs are sealed with
}

// add appends a run.
func (m *pageMap) add(r pageRun) {
	if n := len(m.runs); n > 0 && m.runs[n-1].continuedBy(r) {
		m.runs[n-1].pages += r.pages
		return
	}
	m.runs = append(m.runs, r)
}

// bytes returns the length of the map in its format.
func (m *pageMap) bytes() int {
	return mapHeaderBytes + len(m.chunks)*len(ID{}) + len(m.runs)*mapRunBytes
}

// marshal returns the map in its format.
func (m *pageMap) marshal() []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, m.bytes())
	b = append(b, mapMagic...)
	b = le.AppendUint32(b, packVersion)
	b = le.AppendUint32(b, 0)
	kind := uint32(mapWhole)
	if m.change {
		kind = mapChange
	}
	b = le.AppendUint32(b, kind)
	b = le.AppendUint32(b, uint32(m.pageSize))
	b = le.AppendUint64(b, uint64(m.pages))
	b = le.AppendUint32(b, uint32(len(m.chunks)))
	b = le.AppendUint32(b, uint32(len(m.runs)))
	for i := range m.chunks {
		b = append(b, m.chunks[i][:]...)
	}
	for _, r := range m.runs {
		b = le.AppendUint32(b, r.first)
		b = le.AppendUint32(b, r.pages)
		b = le.AppendUint32(b, r.chunk)
		b = le.AppendUint32(b, r.place)
	}
	return b
}

// parseMap reads a map. A whole one has every page once, a change has none
// twice.
func parseMap(b []byte) (*pageMap, error) {
	m, chunks, runs, err := parseMapHeader(b)
	if err != nil {
		return nil, err
	}
	b = b[mapHeaderBytes:]
	m.chunks = make([]ID, chunks)
	for i := range m.chunks {
		m.chunks[i], b = ID(b[:len(ID{})]), b[len(ID{}):]
	}
	le := binary.LittleEndian
	m.runs = make([]pageRun, runs)
	for i := range m.runs {
		m.runs[i] = pageRun{le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])}
		b = b[mapRunBytes:]
	}
	return m, m.check()
}

// parseMapHeader reads a header. The numbers agree with the length of b.
func parseMapHeader(b []byte) (m *pageMap, chunks, runs int, err error) {
	le := binary.LittleEndian
	if len(b) < mapHeaderBytes || string(b[:8]) != mapMagic {
		return nil, 0, 0, errors.New("the header of a map is missing")
	}
	if err := checkVersion(le.Uint32(b[8:]), le.Uint32(b[12:])); err != nil {
		return nil, 0, 0, err
	}
	kind, pageSize, pages := le.Uint32(b[16:]), le.Uint32(b[20:]), le.Uint64(b[24:])
	if kind != mapWhole && kind != mapChange {
		return nil, 0, 0, fmt.Errorf("unknown kind of map %d", kind)
	}
	if _, ok := pageShiftOf(int(pageSize)); !ok || pages > maxDatabasePages {
		return nil, 0, 0, fmt.Errorf("%d pages of %d bytes are out of range", pages, pageSize)
	}
	c, r := uint64(le.Uint32(b[32:])), uint64(le.Uint32(b[36:]))
	if uint64(len(b)) != mapHeaderBytes+c*uint64(len(ID{}))+r*mapRunBytes {
		return nil, 0, 0, fmt.Errorf("%d chunks and %d runs do not fit in %d bytes", c, r, len(b))
	}
	m = &pageMap{change: kind == mapChange, pageSize: int(pageSize), pages: int64(pages)}
	return m, int(c), int(r), nil
}

// check looks at the runs of a map that was read.
func (m *pageMap) check() error {
	next, used := int64(1), uint32(0) // the page behind the run before; chunks used so far
	for i, r := range m.runs {
		switch {
		case r.pages == 0 || int64(r.first) < next || r.end() > m.pages+1:
			return fmt.Errorf("run %d: %d pages from page %d, after page %d of %d", i, r.pages, r.first, next-1, m.pages)
		case !m.change && int64(r.first) != next:
			return fmt.Errorf("run %d: the pages from %d are not mapped", i, next)
		case r.chunk > used || int(r.chunk) >= len(m.chunks):
			return fmt.Errorf("run %d: chunk %d of %d", i, r.chunk, len(m.chunks))
		case int64(r.place)+int64(r.pages) > MaxBlobBytes/int64(m.pageSize):
			return fmt.Errorf("run %d: %d pages from place %d do not fit in a chunk", i, r.pages, r.place)
		}
		if r.chunk == used {
			used++
		}
		next = r.end()
	}
	if !m.change && next != m.pages+1 {
		return fmt.Errorf("the pages from %d are not mapped", next)
	}
	if int(used) != len(m.chunks) {
		return fmt.Errorf("chunk %d is not used", used)
	}
	return nil
}
