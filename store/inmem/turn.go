package inmem

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
)

var (
	_ amber.Turns       = (*Store)(nil)
	_ amber.Compactions = (*Store)(nil)
)

// AppendTurn implements [amber.Turns]. An id that is stored under another
// session is a conflict.
func (s *Store) AppendTurn(ctx context.Context, t amber.Turn) (amber.Turn, error) {
	t, err := t.Normalize()
	if err != nil {
		return amber.Turn{}, err
	}
	return run(ctx, s, "append turn", func() (amber.Turn, error) { return s.appendTurn(s.now(), t) })
}

func (s *Store) appendTurn(now amber.Time, t amber.Turn) (amber.Turn, error) {
	if i := slices.IndexFunc(s.turns, func(c amber.Turn) bool { return c.ID == t.ID }); i >= 0 {
		if s.turns[i].SessionID != t.SessionID {
			return amber.Turn{}, conflict("append turn", string(t.ID), "another session has a turn with this id")
		}
		return s.turns[i], nil
	}
	var err error
	if t.ID, err = orNewID(s, now, t.ID); err != nil {
		return amber.Turn{}, err
	}
	if t.CreatedAt.IsZero() {
		t.CreatedAt = now
	}
	s.turns = append(s.turns, t)
	s.placeTurn(t)
	s.log(now, amber.OpInsert, amber.ChangeTurn, string(t.ID), "", amber.ContentDigest(t.Content))
	return t, nil
}

// ListTurns implements [amber.Turns].
func (s *Store) ListTurns(ctx context.Context, q amber.TurnQuery) (amber.Page[amber.ListedTurn], error) {
	none := amber.Page[amber.ListedTurn]{Items: []amber.ListedTurn{}}
	limit, err := amber.Paging{Limit: q.Limit}.Size("list turns")
	if err != nil {
		return none, err
	}
	if q.Excerpt < 0 {
		return none, invalid("list turns", string(q.SessionID), "the excerpt is negative, want 0 or more")
	}
	return run(ctx, s, "list turns", func() (amber.Page[amber.ListedTurn], error) { return s.pageOfTurns(q, limit) })
}

func (s *Store) pageOfTurns(q amber.TurnQuery, limit int) (amber.Page[amber.ListedTurn], error) {
	page := amber.Page[amber.ListedTurn]{Items: []amber.ListedTurn{}}
	listing := turnListing(q)
	turns := where(slices.Values(s.turns), func(t amber.Turn) bool { return t.SessionID == q.SessionID })
	if !q.Oldest {
		slices.Reverse(turns)
	}
	if q.Cursor != "" {
		c, err := decodeCursor(listing, q.Cursor)
		if err != nil {
			return page, err
		}
		i := slices.IndexFunc(turns, func(t amber.Turn) bool { return string(t.ID) == c.ID })
		if i < 0 {
			return page, conflict("list turns", c.ID, "the turn before this page was removed meanwhile")
		}
		turns = turns[i+1:]
	}
	for _, t := range turns {
		page.Items = append(page.Items, listed(t, q.Excerpt))
	}
	return firstPage(page.Items, limit, func(last amber.ListedTurn) amber.Cursor {
		return cursor{listing, place{ID: string(last.ID)}}.encode()
	}), nil
}

// turnListing names the listing of a session in one order.
func turnListing(q amber.TurnQuery) string {
	if q.Oldest {
		return "first turns of " + string(q.SessionID)
	}
	return "last turns of " + string(q.SessionID)
}

func listed(t amber.Turn, excerpt int) amber.ListedTurn {
	l := amber.ListedTurn{Turn: t, Bytes: int64(len(t.Content))}
	if r := []rune(t.Content); excerpt > 0 && len(r) > excerpt {
		l.Content = string(r[:excerpt])
	}
	return l
}

// Turn implements [amber.Turns].
func (s *Store) Turn(ctx context.Context, id amber.TurnID) (amber.Turn, error) {
	return run(ctx, s, "read turn", func() (amber.Turn, error) {
		if i := slices.IndexFunc(s.turns, func(t amber.Turn) bool { return t.ID == id }); i >= 0 {
			return s.turns[i], nil
		}
		return amber.Turn{}, amber.Errorf(amber.KindNotFound, "read turn", string(id), "no such turn")
	})
}

// DeleteTurns implements [amber.Turns].
func (s *Store) DeleteTurns(ctx context.Context, id amber.SessionID) (int, error) {
	return run(ctx, s, "delete turns", func() (int, error) { return s.dropTurns(s.now(), id), nil })
}

// dropTurns removes the turns of a session and logs that once, if there were
// any.
func (s *Store) dropTurns(now amber.Time, id amber.SessionID) int {
	before := len(s.turns)
	s.turns = slices.DeleteFunc(s.turns, func(t amber.Turn) bool { return t.SessionID == id })
	n := before - len(s.turns)
	if n > 0 {
		s.log(now, amber.OpDelete, amber.ChangeTurn, string(id), "", "")
	}
	return n
}

// AddCompaction implements [amber.Compactions]. An id that is stored under
// another session is a conflict.
func (s *Store) AddCompaction(ctx context.Context, c amber.Compaction) (amber.Compaction, error) {
	c, err := c.Normalize()
	if err != nil {
		return amber.Compaction{}, err
	}
	return run(ctx, s, "add compaction", func() (amber.Compaction, error) { return s.addCompaction(s.now(), c) })
}

func (s *Store) addCompaction(now amber.Time, c amber.Compaction) (amber.Compaction, error) {
	if i := slices.IndexFunc(s.compactions, func(k amber.Compaction) bool { return k.ID == c.ID }); i >= 0 {
		if s.compactions[i].SessionID != c.SessionID {
			return amber.Compaction{}, conflict("add compaction", c.ID, "another session has a compaction with this id")
		}
		return s.compactions[i], nil
	}
	var err error
	if c.ID, err = orNewID(s, now, c.ID); err != nil {
		return amber.Compaction{}, err
	}
	if c.CreatedAt.IsZero() {
		c.CreatedAt = now
	}
	s.compactions = append(s.compactions, c)
	s.log(now, amber.OpInsert, amber.ChangeCompaction, c.ID, "", amber.ContentDigest(c.Summary))
	return c, nil
}

// Compactions implements [amber.Compactions], in the order they were added.
func (s *Store) Compactions(ctx context.Context, id amber.SessionID, p amber.Paging) (amber.Page[amber.Compaction], error) {
	const op = "read compactions"
	return run(ctx, s, op, func() (amber.Page[amber.Compaction], error) {
		found := where(slices.Values(s.compactions), func(c amber.Compaction) bool { return c.SessionID == id })
		return enumerate(op, "compactions", found, p)
	})
}

// dropCompactions removes the summaries of a session and logs that once, if
// there were any.
func (s *Store) dropCompactions(now amber.Time, id amber.SessionID) {
	before := len(s.compactions)
	s.compactions = slices.DeleteFunc(s.compactions, func(c amber.Compaction) bool { return c.SessionID == id })
	if len(s.compactions) < before {
		s.log(now, amber.OpDelete, amber.ChangeCompaction, string(id), "", "")
	}
}
