package search

import (
	"fmt"
	"slices"
)

// Check reads all of an index and returns the rows of its documents that live. The error
// says what is wrong with it.
func Check(w Writer) (map[int64]bool, error) {
	segments, err := w.Segments()
	if err != nil {
		return nil, err
	}
	rows := map[int64]bool{}
	for _, s := range segments {
		if s.Level == building {
			continue
		}
		if err := checkSegment(w, s, rows); err != nil {
			return nil, fmt.Errorf("segment %d: %w", s.ID, err)
		}
	}
	tail, err := w.Tail(0, 0)
	if err != nil {
		return nil, err
	}
	for _, d := range tail {
		if rows[d.Row] {
			return nil, fmt.Errorf("document %d is there twice", d.Row)
		}
		rows[d.Row] = true
	}
	return rows, nil
}

func checkSegment(w Writer, s Segment, rows map[int64]bool) error {
	docs, err := (*Cache)(nil).documents(w, s)
	if err != nil {
		return err
	}
	b, err := w.Terms(s.ID)
	if err != nil {
		return err
	}
	terms, err := openTexts(b)
	if err != nil {
		return err
	}
	var listed []string
	err = eachList(w, s.ID, func(e Entry) error {
		listed = append(listed, e.Term)
		l, err := openList(e.List, len(docs.rows))
		if err == nil {
			_, err = l.postings()
		}
		return err
	})
	if err != nil {
		return err
	}
	if !slices.Equal(terms, listed) {
		return fmt.Errorf("the segment has lists of %d terms and names %d, or others", len(listed), len(terms))
	}
	dead, err := w.Dead(s.ID)
	if err != nil {
		return err
	}
	for _, row := range docs.rows {
		if slices.Contains(dead, row) {
			continue
		}
		if rows[row] {
			return fmt.Errorf("document %d is there twice", row)
		}
		rows[row] = true
	}
	return nil
}
