package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// idEnd is how people name a memory: the last hex digits of its id, in lower
// case and without dashes, all 32 or at least 8 of them.
type idEnd string

const (
	minIDEnd = 8
	wholeID  = 32
)

// parseIDEnd checks an argument without touching a store.
func parseIDEnd(arg string) (idEnd, error) {
	digits := strings.ToLower(undashed(arg))
	isHex := strings.Trim(digits, "0123456789abcdef") == ""
	if !isHex || len(digits) < minIDEnd || len(digits) > wholeID {
		e := amber.Errorf(amber.KindInvalid, "read memory id", "",
			"%q is neither a UUID nor the last %d or more hex digits of one", oneLine(arg, 40), minIDEnd)
		e.Hint = "amber list"
		return "", e
	}
	return idEnd(digits), nil
}

// whole returns the id where every digit of it is known.
func (e idEnd) whole() (amber.MemoryID, bool) {
	if len(e) != wholeID {
		return "", false
	}
	return amber.MemoryID(e[:8] + "-" + e[8:12] + "-" + e[12:16] + "-" + e[16:20] + "-" + e[20:]), true
}

// maxNamed is how many ids an ambiguous end is said to fit.
const maxNamed = 3

// resolveID returns the memory that e names, live or forgotten, of any scope.
// A whole id is taken as it is. Errors: not_found; invalid when e fits several.
func resolveID(ctx context.Context, s *opened, e idEnd) (amber.MemoryID, error) {
	if id, ok := e.whole(); ok {
		return id, nil
	}
	var fits []string
	q := amber.ListQuery{All: true, Deleted: true, Limit: amber.MaxPageSize}
	for more := true; more && len(fits) < maxNamed; {
		page, err := s.Store.Memories.List(ctx, q)
		if err != nil {
			return "", err
		}
		for _, m := range page.Items {
			if endsWith(string(m.ID), string(e)) && len(fits) < maxNamed {
				fits = append(fits, string(m.ID))
			}
		}
		q.Cursor, more = page.Next, page.Next != ""
	}
	switch len(fits) {
	case 0:
		err := amber.Errorf(amber.KindNotFound, "find memory", string(e), "no id ends in these digits")
		err.Hint = "amber list --all"
		return "", err
	case 1:
		return amber.MemoryID(fits[0]), nil
	}
	return "", amber.Errorf(amber.KindInvalid, "find memory", string(e), "several ids end in these digits: %s", strings.Join(fits, ", "))
}

// withMemory is withStore for a verb about one memory: it finds out which one
// the argument names.
func (a *app) withMemory(cmd *cobra.Command, arg string, fn func(ctx context.Context, s *opened, id amber.MemoryID) error) error {
	end, err := parseIDEnd(arg)
	if err != nil {
		return err
	}
	return a.withStore(cmd, func(ctx context.Context, s *opened) error {
		id, err := resolveID(ctx, s, end)
		if err != nil {
			return err
		}
		return fn(ctx, s, id)
	})
}
