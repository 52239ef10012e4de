package search

import (
	"maps"
	"sync"
)

// Cache keeps what segments hold for the next question: they do not change. It is for
// one index, and safe for concurrent use.
type Cache struct {
	mu       sync.Mutex
	docs     ofSegments[documents]
	vocables ofSegments[vocabulary]
	tail     map[int64]Document
	signs    map[string]keptSigns // by model

	lists    recent[valueKey, list]
	sets     recent[valueKey, set]
	vectors  recent[vectorKey, Vector]
	passages recent[passageKey, Passage]
}

// How many bytes of each are kept.
const (
	maxLists    = 24 << 20
	maxSets     = 4 << 20
	maxVectors  = 16 << 20
	maxPassages = 8 << 20
)

// valueKey names a value of a segment: it never changes.
type valueKey struct {
	segment, edition int64
	term             string
}

func (s Segment) value(term string) valueKey { return valueKey{s.ID, s.Edition, term} }

// vectorKey names a vector: what a row says never changes.
type vectorKey struct {
	model string
	row   int64
}

// passageKey names what is known of a row as long as no passage is moved.
type passageKey struct{ moves, row int64 }

// keptSize is about how many bytes keeping a list takes.
func (l list) keptSize() int { return 160 + len(l.data) + 64*len(l.blocks) }

func (s set) keptSize() int { return 120 + 8*len(s) }

// list returns a list that was read before; it may be empty.
func (c *Cache) list(s Segment, term string) (list, bool) {
	if c == nil {
		return list{}, false
	}
	return c.lists.get(s.value(term), list.keptSize, maxLists)
}

func (c *Cache) putList(s Segment, term string, l list) {
	if c != nil {
		c.lists.put(s.value(term), l, l.keptSize(), maxLists)
	}
}

// set returns the documents of a segment that have a facet. The caller must not change it.
func (c *Cache) set(s Segment, facet string) (set, bool) {
	if c == nil {
		return nil, false
	}
	return c.sets.get(s.value(facet), set.keptSize, maxSets)
}

func (c *Cache) putSet(s Segment, facet string, v set) {
	if c != nil {
		c.sets.put(s.value(facet), v, v.keptSize(), maxSets)
	}
}

// Vectors returns the vectors of a model that there are of rows, and reads those that are not
// kept. The caller must not change them.
func (c *Cache) Vectors(model string, rows []int64, read func(rows []int64) (map[int64]Vector, error)) (map[int64]Vector, error) {
	if c == nil {
		return read(rows)
	}
	return keeping(&c.vectors, rows, func(row int64) vectorKey { return vectorKey{model, row} }, func(v Vector) int { return 120 + len(v) }, maxVectors, read)
}

// Passages returns what is known of rows, and reads what is not kept. Moves counts up when
// something of a passage that is there changes. Those that are gone may be among them.
func (c *Cache) Passages(moves int64, rows []int64, read func(rows []int64) (map[int64]Passage, error)) (map[int64]Passage, error) {
	if c == nil {
		return read(rows)
	}
	size := func(p Passage) int { return 240 + len(p.Owner) + len(p.Session) + len(p.Speaker) }
	return keeping(&c.passages, rows, func(row int64) passageKey { return passageKey{moves, row} }, size, maxPassages, read)
}

// keeping returns the values of rows: those that are kept, and others that it reads and keeps.
func keeping[K comparable, V any](kept *recent[K, V], rows []int64, key func(row int64) K, size func(V) int, most int, read func(rows []int64) (map[int64]V, error)) (map[int64]V, error) {
	out := make(map[int64]V, len(rows))
	var missing []int64
	for _, row := range rows {
		if v, ok := kept.get(key(row), size, most); ok {
			out[row] = v
		} else {
			missing = append(missing, row)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	fresh, err := read(missing)
	if err != nil {
		return nil, err
	}
	for row, v := range fresh {
		kept.put(key(row), v, size(v), most)
		out[row] = v
	}
	return out, nil
}

// documentsOfTail returns the documents that are in no segment yet, each read once: a row
// never gets another document. The caller must not change them.
func (c *Cache) documentsOfTail(rows Rows) ([]Document, error) {
	if c == nil {
		return rows.Tail(0, 0)
	}
	numbers, err := rows.TailRows()
	if err != nil {
		return nil, err
	}
	docs := make([]Document, 0, len(numbers))
	c.mu.Lock()
	for _, n := range numbers {
		d, ok := c.tail[n]
		if !ok {
			break
		}
		docs = append(docs, d)
	}
	c.mu.Unlock()
	if len(docs) == len(numbers) {
		return docs, nil
	}
	fresh, err := rows.Tail(numbers[len(docs)]-1, 0)
	if err != nil {
		return nil, err
	}
	docs = append(docs, fresh...)
	kept := make(map[int64]Document, len(docs))
	for _, d := range docs {
		kept[d.Row] = d
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tail = kept
	return docs, nil
}

// ofSegments is what was made of segments, by their id.
type ofSegments[T any] map[int64]edited[T]

// edited is of one edition of a segment.
type edited[T any] struct {
	edition int64
	value   T
}

// once returns what is kept of a segment, or reads it and keeps it. Kept is a field of the
// cache.
func once[T any](c *Cache, kept *ofSegments[T], s Segment, read func() (T, error)) (T, error) {
	c.mu.Lock()
	had, ok := (*kept)[s.ID]
	c.mu.Unlock()
	if ok && had.edition == s.Edition {
		return had.value, nil
	}
	v, err := read()
	if err != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if *kept == nil {
		*kept = ofSegments[T]{}
	}
	(*kept)[s.ID] = edited[T]{s.Edition, v}
	return v, nil
}

type cachedSigns struct {
	edition int64
	Signs
}

// maxModels bounds of how many models signs are kept: a store has three, and others while they take the place of those.
const maxModels = 4

// keptSigns are the signs of the vectors of one model, as of a state of the store.
type keptSigns struct {
	state  int64
	chunks map[int64]cachedSigns
	all    []Signs
}

// words returns the words of the terms of a segment, read once; see vocable.
func (c *Cache) words(rows Rows, s Segment) (vocabulary, error) {
	read := func() (vocabulary, error) { return readWords(rows, s) }
	if c == nil {
		return read()
	}
	return once(c, &c.vocables, s, read)
}

func readWords(rows Rows, s Segment) (vocabulary, error) {
	b, err := rows.Terms(s.ID)
	if err != nil {
		return vocabulary{}, err
	}
	terms, err := openTexts(b)
	if err != nil {
		return vocabulary{}, err
	}
	return newVocabulary(terms), nil
}

// Chunk names a part of the signs of a store, and tells when it changes.
type Chunk struct{ ID, Edition int64 }

// SignRows is where the signs of the vectors of a model are read from.
type SignRows interface {
	// SignState counts up with every change of any signs.
	SignState() (int64, error)
	Chunks(model string) ([]Chunk, error)
	// ReadSigns reads chunks.
	ReadSigns(model string, chunks []int64) (map[int64]Signs, error)
}

// hasSigns reports whether most signs of a model were read before.
func (c *Cache) hasSigns(model string) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.signs[model].chunks != nil
}

// Signs returns the signs of the vectors of a model: those of chunks that changed are read.
func (c *Cache) Signs(model string, rows SignRows) ([]Signs, error) {
	state, err := rows.SignState()
	if err != nil {
		return nil, err
	}
	var had keptSigns
	if c != nil {
		c.mu.Lock()
		had = c.signs[model]
		c.mu.Unlock()
	}
	if had.chunks != nil && had.state == state {
		return had.all, nil
	}
	now, err := had.update(model, state, rows)
	if err != nil {
		return nil, err
	}
	if c != nil {
		c.mu.Lock()
		if c.signs == nil || len(c.signs) > maxModels {
			c.signs = map[string]keptSigns{}
		}
		c.signs[model] = now
		c.mu.Unlock()
	}
	return now.all, nil
}

// update reads what has changed since.
func (k keptSigns) update(model string, state int64, rows SignRows) (keptSigns, error) {
	chunks, err := rows.Chunks(model)
	if err != nil {
		return k, err
	}
	var missing []int64
	for _, c := range chunks {
		if had, ok := k.chunks[c.ID]; !ok || had.edition != c.Edition {
			missing = append(missing, c.ID)
		}
	}
	fresh, err := rows.ReadSigns(model, missing)
	if err != nil {
		return k, err
	}
	now := keptSigns{state: state, chunks: make(map[int64]cachedSigns, len(chunks))}
	for _, c := range chunks {
		s, ok := fresh[c.ID]
		if !ok {
			s = k.chunks[c.ID].Signs
		}
		now.chunks[c.ID] = cachedSigns{c.Edition, s}
		now.all = append(now.all, s)
	}
	return now, nil
}

// documents returns the documents of a segment, read once. The caller must not
// change them.
func (c *Cache) documents(rows Rows, s Segment) (documents, error) {
	read := func() (documents, error) { return readDocuments(rows, s) }
	if c == nil {
		return read()
	}
	return once(c, &c.docs, s, read)
}

func readDocuments(rows Rows, s Segment) (documents, error) {
	b, err := rows.Docs(s.ID)
	if err != nil {
		return documents{}, err
	}
	d, err := openDocuments(b)
	if err == nil && len(d.rows) != s.Docs {
		err = errList
	}
	return d, err
}

// keep forgets all segments but some.
func (c *Cache) keep(segments []Segment) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.docs) <= 2*len(segments) {
		return
	}
	left := make(ofSegments[documents], len(segments))
	for _, s := range segments {
		if had, ok := c.docs[s.ID]; ok {
			left[s.ID] = had
		}
	}
	c.docs = left
	maps.DeleteFunc(c.vocables, func(id int64, _ edited[vocabulary]) bool { _, ok := left[id]; return !ok })
}
