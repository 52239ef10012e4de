package amber

import (
	"context"
	"slices"
)

// Paging asks for a page of a listing. The zero value asks for the first one, of
// [DefaultPageSize] items.
type Paging struct {
	Limit  int    // 0: DefaultPageSize; at most MaxPageSize
	Cursor Cursor // Next of the page before
}

// Size returns how many items the page has at most. The error is of kind invalid.
func (p Paging) Size(op string) (int, error) {
	switch {
	case p.Limit < 0:
		return 0, Errorf(KindInvalid, op, "", "the limit is negative, want 0 or more")
	case p.Limit == 0:
		return DefaultPageSize, nil
	}
	return min(p.Limit, MaxPageSize), nil
}

// All reads every page of what belongs to one record, as in
//
//	history, err := amber.All(ctx, store.Memories.History, id)
//
// It is for callers who need the whole at once; it has no bound.
func All[ID, T any](ctx context.Context, read func(context.Context, ID, Paging) (Page[T], error), of ID) ([]T, error) {
	all := []T{}
	err := Each(ctx, read, of, func(item T) error {
		all = append(all, item)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Each is All for callers who look at one item after the other. An error of fn ends it.
func Each[ID, T any](ctx context.Context, read func(context.Context, ID, Paging) (Page[T], error), of ID, fn func(T) error) error {
	for p := (Paging{Limit: MaxPageSize}); ; {
		page, err := read(ctx, of, p)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if err := fn(item); err != nil {
				return err
			}
		}
		if p.Cursor = page.Next; p.Cursor == "" {
			return nil
		}
	}
}

// LastTurns reads the last limit turns of a session, oldest first. An unknown session and
// limit 0 give an empty list. Errors: invalid.
func LastTurns(ctx context.Context, s Turns, id SessionID, limit int) ([]Turn, error) {
	if limit < 0 {
		return nil, Errorf(KindInvalid, "load turns", string(id), "the limit is negative, want 0 or more")
	}
	turns := []Turn{}
	for q := (TurnQuery{SessionID: id}); len(turns) < limit; {
		q.Limit = min(limit-len(turns), MaxPageSize)
		page, err := s.ListTurns(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Items {
			turns = append(turns, t.Turn)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	slices.Reverse(turns)
	return turns, nil
}
