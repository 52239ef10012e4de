package foreign

import (
	"cmp"
	"slices"
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

// Span sets the times of a session to those of its first and its last turn, in whatever order they are. There must be one.
func (s *Session) Span(turns []Turn) {
	s.StartedAt, s.EndedAt = turns[0].At, turns[0].At
	for _, t := range turns {
		if t.At.Before(s.StartedAt) {
			s.StartedAt = t.At
		}
		if s.EndedAt.Before(t.At) {
			s.EndedAt = t.At
		}
	}
}

// Gather gives out conversations whose messages lie anywhere in a file, given by the bytes of each. Every pass over the
// file holds at most so many bytes, or one conversation: collect adds turns to the conversations that held names, and give
// gets those of one, by time.
func Gather(sizes map[string]int, most int, collect func(held map[string][]Turn) error, give func(id string, turns []Turn) error) error {
	for _, part := range Batches(sizes, most) {
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
