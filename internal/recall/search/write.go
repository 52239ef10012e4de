package search

import "slices"

// Writer is an index that is being changed, inside one transaction.
type Writer interface {
	Rows
	PutTail(d Document) error
	DropTail(row int64) error
	// DropTailThrough removes all documents of the tail up to a row.
	DropTailThrough(row int64) error
	// PutSegment stores a segment under a number that was never used, and returns it.
	PutSegment(s Segment, c Content) (int64, error)
	// ReplaceSegment stores other content under a number.
	ReplaceSegment(s Segment, c Content) error
	// DropSegment removes a segment and its dead, and leaves its lists.
	DropSegment(segment int64) error
	PutList(segment int64, term string, list []byte) error
	DropList(segment int64, term string) error
	// DropLists removes at most n lists of a segment, and reports whether some are left.
	DropLists(segment int64, n int) (left bool, err error)
	// NextLists returns at most n lists of a segment behind a term, in the order of
	// their terms. One list comes whatever its size, more up to about 256 KiB.
	NextLists(segment int64, after string, n int) ([]Entry, error)
	PutDead(segment, row int64) error
	// Job and PutJob keep what Tidy has begun; an empty one is none.
	Job() ([]byte, error)
	PutJob(job []byte) error
}

// Remove takes documents out of the index. Their entries may stay in the bytes of a segment
// until that is merged.
func Remove(w Writer, cache *Cache, rows ...int64) error {
	return eachHolder(w, cache, rows, func(s Segment, _ documents, docs []uint32, rows []int64) error {
		for _, row := range rows {
			if err := w.PutDead(s.ID, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachHolder calls fn for each segment that has some of the rows, and drops those of the
// tail.
func eachHolder(w Writer, cache *Cache, rows []int64, fn func(s Segment, d documents, docs []uint32, rows []int64) error) error {
	rows = slices.Sorted(slices.Values(rows))
	segments, err := w.Segments()
	if err != nil {
		return err
	}
	held := map[int64]bool{}
	for _, s := range segments {
		inside := slices.DeleteFunc(slices.Clone(rows), func(row int64) bool { return row < s.First || row > s.Last })
		if s.Level == building || len(inside) == 0 {
			continue
		}
		d, err := cache.documents(w, s)
		if err != nil {
			return err
		}
		var docs []uint32
		inside = slices.DeleteFunc(inside, func(row int64) bool {
			doc, ok := d.find(row)
			if ok {
				docs, held[row] = append(docs, doc), true
			}
			return !ok
		})
		if len(inside) == 0 {
			continue
		}
		if err := fn(s, d, docs, inside); err != nil {
			return err
		}
	}
	for _, row := range rows {
		if !held[row] {
			if err := w.DropTail(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// Erase takes documents out of the index to the byte. It first gives up or ends the work that
// Tidy has begun: lists that no search reads any more may hold the documents.
func Erase(w Writer, cache *Cache, rows ...int64) error {
	if len(rows) == 0 {
		return nil
	}
	if err := settle(w); err != nil {
		return err
	}
	return eachHolder(w, cache, rows, func(s Segment, d documents, docs []uint32, rows []int64) error {
		return eraseFrom(w, s, d, docs, rows)
	})
}

// eraseFrom takes documents out of the lists of a segment. Their numbers stay, with
// nothing behind them.
func eraseFrom(w Writer, s Segment, d documents, docs []uint32, rows []int64) error {
	d.lengths = slices.Clone(d.lengths) // others may read them
	var dropped []string
	err := eachList(w, s.ID, func(e Entry) error {
		empty, err := eraseInList(w, s.ID, e, d, docs)
		if empty {
			dropped = append(dropped, e.Term)
		}
		return err
	})
	if err != nil {
		return err
	}
	terms, err := termsWithout(w, s.ID, dropped)
	if err != nil {
		return err
	}
	for _, doc := range docs {
		d.lengths[doc] = 0
	}
	is := d.segment(s.Level)
	is.ID, is.Edition = s.ID, s.Edition+1
	if err := w.ReplaceSegment(is, Content{d.marshal(), terms}); err != nil {
		return err
	}
	for _, row := range rows {
		if err := w.PutDead(s.ID, row); err != nil {
			return err
		}
	}
	return nil
}

// eachList calls fn for every list of a segment.
func eachList(w Writer, segment int64, fn func(Entry) error) error {
	for after := ""; ; {
		some, err := w.NextLists(segment, after, 256)
		if err != nil || len(some) == 0 {
			return err
		}
		for _, e := range some {
			if e.Term <= after {
				return errList
			}
			if after = e.Term; fn != nil {
				if err := fn(e); err != nil {
					return err
				}
			}
		}
	}
}

// eraseInList writes a list without some documents, and reports whether nothing is left.
func eraseInList(w Writer, segment int64, e Entry, d documents, docs []uint32) (empty bool, err error) {
	l, err := openList(e.List, len(d.rows))
	if err != nil {
		return false, err
	}
	c := newCursor(l, worth{})
	hit := false
	for _, doc := range docs {
		c.seek(int(doc))
		hit = hit || c.doc == int(doc)
	}
	if c.err != nil || !hit {
		return false, c.err
	}
	postings, err := l.postings()
	if err != nil {
		return false, err
	}
	left := slices.DeleteFunc(postings, func(p posting) bool { return slices.Contains(docs, p.doc) })
	if len(left) == 0 {
		return true, w.DropList(segment, e.Term)
	}
	return false, w.PutList(segment, e.Term, marshalList(left, d.lengths))
}

// termsWithout returns the terms of a segment without some.
func termsWithout(w Writer, segment int64, gone []string) ([]byte, error) {
	b, err := w.Terms(segment)
	if err != nil {
		return nil, err
	}
	terms, err := openTexts(b)
	if err != nil {
		return nil, err
	}
	drop := make(map[string]bool, len(gone))
	for _, t := range gone {
		drop[t] = true
	}
	return marshalTexts(slices.DeleteFunc(terms, func(t string) bool { return drop[t] })), nil
}

func openTexts(b []byte) ([]string, error) {
	r := varints{b: b}
	texts := r.texts(maxTexts)
	if r.bad || r.at != len(b) {
		return nil, errList
	}
	return texts, nil
}
