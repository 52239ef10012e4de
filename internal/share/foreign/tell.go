package foreign

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

// Tell gives out a conversation and its turns, unless all of them are known.
func Tell(to Sink, s Session, turns []Turn) error {
	want, err := to.Session(s)
	if err != nil || !want {
		return err
	}
	for _, t := range turns {
		if err := to.Turn(t); err != nil {
			return err
		}
	}
	return nil
}

// Span is the time from the first to the last of some moments, in whatever order they are; zero for none.
type Span struct{ First, Last amber.Time }

// Add adds a moment. Zero is none.
func (s *Span) Add(at amber.Time) {
	if !at.IsZero() && (s.First.IsZero() || at.Before(s.First)) {
		s.First = at
	}
	if s.Last.Before(at) {
		s.Last = at
	}
}

// Dates returns when a conversation began and ended that says when it was made and changed, and whose messages have a
// span. Any of the times may be missing but that of its file.
func (s Span) Dates(created, updated, file amber.Time) (began, ended amber.Time) {
	began = cmp.Or(created, s.First, updated, file)
	ended = cmp.Or(updated, s.Last, began)
	if ended.Before(began) {
		ended = began
	}
	return began, ended
}

// Span sets the times of a session to those of its first and its last turn, in whatever order they are.
func (s *Session) Span(turns []Turn) {
	var all Span
	for _, t := range turns {
		all.Add(t.At)
	}
	s.StartedAt, s.EndedAt = all.First, all.Last
}

// GiveNote gives out a file of at most so many bytes as a note, as it is. An empty file makes no note, and the report names
// a file that cannot be read.
func (f File) GiveNote(name string, most int64, to Sink) error {
	b, err := f.Bytes(most)
	if err != nil {
		to.Skip(f.Place(""), "%v", err)
		return nil
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return nil
	}
	return to.Note(Note{Place: f.Place(""), Name: name, Content: string(b), UpdatedAt: f.ModifiedAt()})
}

// Gather gives out conversations whose messages lie anywhere in a file, given by the bytes of each. Every pass over the
// file holds at most so many bytes, or one conversation: collect adds turns to the conversations that held names, and give
// gets those of one, by time.
func Gather(sizes map[string]int, most int, collect func(held map[string][]Turn) error, give func(id string, turns []Turn) error) error {
	ids := slices.Sorted(maps.Keys(sizes))
	for _, part := range Batches(ids, func(id string) int { return sizes[id] }, most) {
		held := make(map[string][]Turn, len(part))
		for _, id := range part {
			held[id] = nil
		}
		if err := collect(held); err != nil {
			return err
		}
		for _, id := range part {
			turns := held[id]
			delete(held, id)
			slices.SortStableFunc(turns, func(a, b Turn) int { return cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli()) })
			if len(turns) == 0 {
				continue
			}
			if err := give(id, turns); err != nil {
				return err
			}
		}
	}
	return nil
}
