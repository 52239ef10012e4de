package search

import (
	"cmp"
	"maps"
	"slices"
)

// Memory is an index in memory. It is not safe for concurrent use.
type Memory struct {
	last     int64
	segments map[int64]Segment
	contents map[int64]Content
	lists    map[int64]map[string][]byte
	dead     map[int64][]int64
	tail     map[int64]Document
	job      []byte
	passages map[int64]Passage
	vectors  map[string]map[int64]Vector // by model
	sorted   map[int64][]string          // terms of the segments that are being merged
}

// NewMemory returns an index without documents.
func NewMemory() *Memory {
	return &Memory{
		segments: map[int64]Segment{}, contents: map[int64]Content{}, lists: map[int64]map[string][]byte{}, dead: map[int64][]int64{},
		tail: map[int64]Document{}, passages: map[int64]Passage{}, vectors: map[string]map[int64]Vector{}, sorted: map[int64][]string{},
	}
}

// Add puts a passage into the index, with its vector where it has one.
func (m *Memory) Add(d Document, p Passage, v Vector) {
	m.tail[d.Row], m.passages[d.Row] = d, p
	m.Put(anyModel, d.Row, v)
}

// anyModel is the model of vectors that [Memory.Add] puts into the index.
const anyModel = "model"

// Put puts the vector of a passage into the index; nil is none.
func (m *Memory) Put(model string, row int64, v Vector) {
	if v == nil {
		return
	}
	if m.vectors[model] == nil {
		m.vectors[model] = map[int64]Vector{}
	}
	m.vectors[model][row] = v
}

// Segments implements [Rows].
func (m *Memory) Segments() ([]Segment, error) {
	all := slices.Collect(maps.Values(m.segments))
	slices.SortFunc(all, func(a, b Segment) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.ID, b.ID)) })
	return all, nil
}

// Lists implements [Rows].
func (m *Memory) Lists(segment int64, terms []string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, t := range terms {
		if b, ok := m.lists[segment][t]; ok {
			out[t] = b
		}
	}
	return out, nil
}

// Docs implements [Rows].
func (m *Memory) Docs(segment int64) ([]byte, error) { return m.contents[segment].Docs, nil }

// Terms implements [Rows].
func (m *Memory) Terms(segment int64) ([]byte, error) { return m.contents[segment].Terms, nil }

// ListTerms implements [Rows].
func (m *Memory) ListTerms(segment int64) ([]string, error) {
	return slices.Sorted(maps.Keys(m.lists[segment])), nil
}

// Dead implements [Rows].
func (m *Memory) Dead(segment int64) ([]int64, error) { return slices.Clone(m.dead[segment]), nil }

// Tail implements [Rows].
func (m *Memory) Tail(after int64, n int) (out []Document, err error) {
	for _, row := range slices.Sorted(maps.Keys(m.tail)) {
		if row <= after {
			continue
		}
		if out = append(out, m.tail[row]); len(out) == n {
			break
		}
	}
	return out, nil
}

// TailRows implements [Rows].
func (m *Memory) TailRows() ([]int64, error) { return slices.Sorted(maps.Keys(m.tail)), nil }

// HasTail implements [Rows].
func (m *Memory) HasTail(n int) (bool, error) { return len(m.tail) >= n, nil }

// Passages implements [Source].
func (m *Memory) Passages(rows []int64) (map[int64]Passage, error) {
	out := map[int64]Passage{}
	for _, row := range rows {
		if p, ok := m.passages[row]; ok {
			out[row] = p
		}
	}
	return out, nil
}

// Beside implements [Source].
func (m *Memory) Beside(places []Place, steps int64) (rows []int64, err error) {
	near := map[Place]bool{}
	for _, p := range places {
		for at := p.At - steps; at <= p.At+steps; at++ {
			near[Place{p.Session, at}] = true
		}
	}
	for row, p := range m.passages {
		if p.Session != "" && near[Place{p.Session, p.Place}] {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// Signs implements [Source].
func (m *Memory) Signs(model string) ([]Signs, error) {
	var s Signs
	for _, row := range slices.Sorted(maps.Keys(m.vectors[model])) {
		s.Rows, s.Bits = append(s.Rows, row), m.vectors[model][row].AppendSigns(s.Bits)
	}
	return []Signs{s}, nil
}

// Vectors implements [Source].
func (m *Memory) Vectors(model string, rows []int64) (map[int64]Vector, error) {
	out := map[int64]Vector{}
	for _, row := range rows {
		if v, ok := m.vectors[model][row]; ok {
			out[row] = v
		}
	}
	return out, nil
}

// PutTail implements [Writer].
func (m *Memory) PutTail(d Document) error {
	m.tail[d.Row] = d
	return nil
}

// DropTail implements [Writer].
func (m *Memory) DropTail(row int64) error {
	delete(m.tail, row)
	return nil
}

// DropTailThrough implements [Writer].
func (m *Memory) DropTailThrough(row int64) error {
	maps.DeleteFunc(m.tail, func(r int64, _ Document) bool { return r <= row })
	return nil
}

// PutSegment implements [Writer].
func (m *Memory) PutSegment(s Segment, c Content) (int64, error) {
	m.last++
	s.ID = m.last
	m.lists[s.ID] = map[string][]byte{}
	return s.ID, m.ReplaceSegment(s, c)
}

// ReplaceSegment implements [Writer].
func (m *Memory) ReplaceSegment(s Segment, c Content) error {
	m.segments[s.ID], m.contents[s.ID] = s, c
	return nil
}

// DropSegment implements [Writer].
func (m *Memory) DropSegment(id int64) error {
	delete(m.segments, id)
	delete(m.contents, id)
	delete(m.dead, id)
	delete(m.sorted, id)
	return nil
}

// PutList implements [Writer].
func (m *Memory) PutList(segment int64, term string, list []byte) error {
	delete(m.sorted, segment)
	m.lists[segment][term] = list
	return nil
}

// DropList implements [Writer].
func (m *Memory) DropList(segment int64, term string) error {
	delete(m.sorted, segment)
	delete(m.lists[segment], term)
	return nil
}

// DropLists implements [Writer].
func (m *Memory) DropLists(segment int64, n int) (left bool, err error) {
	delete(m.sorted, segment)
	for term := range m.lists[segment] {
		if n--; n < 0 {
			return true, nil
		}
		delete(m.lists[segment], term)
	}
	return false, nil
}

// NextLists implements [Writer].
func (m *Memory) NextLists(segment int64, after string, n int) (out []Entry, err error) {
	terms, known := m.sorted[segment]
	if !known {
		terms, _ = m.ListTerms(segment)
		m.sorted[segment] = terms
	}
	at, there := slices.BinarySearch(terms, after)
	if there {
		at++
	}
	for _, term := range terms[at:min(len(terms), at+n)] {
		out = append(out, Entry{term, m.lists[segment][term]})
	}
	return out, nil
}

// PutDead implements [Writer].
func (m *Memory) PutDead(segment, row int64) error {
	if !slices.Contains(m.dead[segment], row) {
		m.dead[segment] = append(m.dead[segment], row)
	}
	return nil
}

// Job implements [Writer].
func (m *Memory) Job() ([]byte, error) { return m.job, nil }

// PutJob implements [Writer].
func (m *Memory) PutJob(job []byte) error {
	m.job = job
	return nil
}
