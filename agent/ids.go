package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// IDEnd is how people name something: the last hex digits of its UUID, in lower case
// and without dashes, all 32 or at least 8 of them.
type IDEnd string

const (
	minIDEnd = 8
	wholeID  = 32
	// maxNamed is how many ids an error about an ambiguous end names.
	maxNamed = 3
)

// ParseIDEnd checks a text without touching a store. Errors: invalid.
func ParseIDEnd(text string) (IDEnd, error) {
	digits := strings.ToLower(undashed(text))
	isHex := strings.Trim(digits, "0123456789abcdef") == ""
	if !isHex || len(digits) < minIDEnd || len(digits) > wholeID {
		shown := []rune(strings.ToValidUTF8(text, "?"))
		return "", amber.Errorf(amber.KindInvalid, "read memory id", "",
			"%q is neither a UUID nor the last %d or more hex digits of one", string(shown[:min(len(shown), 40)]), minIDEnd).WithHint("amber list")
	}
	return IDEnd(digits), nil
}

// Whole returns the id where every digit of it is known.
func (e IDEnd) Whole() (amber.MemoryID, bool) {
	if len(e) != wholeID {
		return "", false
	}
	return amber.MemoryID(e[:8] + "-" + e[8:12] + "-" + e[12:16] + "-" + e[16:20] + "-" + e[20:]), true
}

// Ends reports whether a whole UUID ends in e.
func (e IDEnd) Ends(id string) bool {
	_, err := amber.ParseMemoryID(id)
	return err == nil && strings.HasSuffix(undashed(id), string(e))
}

func undashed(id string) string { return strings.ReplaceAll(id, "-", "") }

// Only returns the one id that ends in e. The argument what is the kind of thing that the ids name, for the error.
// Errors: invalid when several ids end in e.
func (e IDEnd) Only(what string, fits []string) (string, error) {
	if len(fits) == 1 {
		return fits[0], nil
	}
	return "", amber.Errorf(amber.KindInvalid, "find "+what, string(e), "several ids end in these digits: %s", strings.Join(fits[:min(len(fits), maxNamed)], ", "))
}

// FindMemory returns the memory that e names, live or forgotten, of any scope. A whole
// id is taken as it is. Errors: not_found; invalid when e fits several.
func FindMemory(ctx context.Context, s amber.Store, e IDEnd) (amber.MemoryID, error) {
	if id, ok := e.Whole(); ok {
		return id, nil
	}
	var fits []string
	q := amber.ListQuery{All: true, Deleted: true, Limit: amber.MaxPageSize}
	for more := true; more && len(fits) < maxNamed; {
		page, err := s.Memories.List(ctx, q)
		if err != nil {
			return "", err
		}
		for _, m := range page.Items {
			if e.Ends(string(m.ID)) {
				fits = append(fits, string(m.ID))
			}
		}
		q.Cursor, more = page.Next, page.Next != ""
	}
	if len(fits) == 0 {
		return "", amber.Errorf(amber.KindNotFound, "find memory", string(e), "no id ends in these digits").WithHint("amber list --all")
	}
	id, err := e.Only("memory", fits)
	return amber.MemoryID(id), err
}

// FindSession returns the session that a text names: a whole id, or the end of a UUID
// in the catalogue. Hosts bring ids of any form and need no catalogue, so a text that
// ends no UUID there is taken for a whole id.
func FindSession(ctx context.Context, s amber.Store, text string) (amber.SessionID, error) {
	id, err := amber.ParseSessionID(text)
	if err != nil {
		return "", err
	}
	end, err := ParseIDEnd(text)
	if _, whole := end.Whole(); err != nil || whole {
		return id, nil
	}
	_, err = s.Sessions.Session(ctx, id)
	switch amber.KindOf(err) {
	case amber.KindNotFound:
	case "", amber.KindUnsupported:
		return id, nil
	default:
		return "", err
	}
	fits, err := sessionsEnding(ctx, s, end)
	switch {
	case err != nil:
		return "", err
	case len(fits) == 0:
		return id, nil
	}
	fit, err := end.Only("session", fits)
	return amber.SessionID(fit), err
}

// sessionsEnding looks through the catalogue.
func sessionsEnding(ctx context.Context, s amber.Store, end IDEnd) ([]string, error) {
	var fits []string
	q := amber.SessionQuery{Limit: amber.MaxPageSize}
	for {
		page, err := s.Sessions.ListSessions(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			if end.Ends(string(item.ID)) {
				fits = append(fits, string(item.ID))
			}
		}
		if page.Next == "" {
			return fits, nil
		}
		q.Cursor = page.Next
	}
}

// FindSnapshot returns the snapshot of a query that end names. A whole id is taken as
// it is. Errors: not_found; invalid when end fits several.
func FindSnapshot(ctx context.Context, e wire.SnapshotReader, q wire.SnapshotQuery, end IDEnd) (amber.SnapshotID, error) {
	if id, ok := end.Whole(); ok {
		return amber.SnapshotID(id), nil
	}
	var fits []string
	err := EachSnapshot(ctx, e, q, func(m wire.SnapshotMeta) error {
		if end.Ends(string(m.ID)) {
			fits = append(fits, string(m.ID))
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if len(fits) == 0 {
		return "", amber.Errorf(amber.KindNotFound, "find snapshot", string(end), "no id ends in these digits").WithHint("amber snapshot list")
	}
	fit, err := end.Only("snapshot", fits)
	return amber.SnapshotID(fit), err
}

// FindMemoryAt returns the memory of a snapshot that end names. Errors: not_found;
// invalid when end fits several.
func FindMemoryAt(ctx context.Context, e Snapshots, ref wire.SnapshotRef, end IDEnd) (m amber.Memory, err error) {
	view, err := e.At(ctx, ref)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	if id, whole := end.Whole(); whole {
		return view.Get(ctx, id)
	}
	fits, ids := []amber.Memory{}, []string{}
	q := amber.ListQuery{All: true, Limit: amber.MaxPageSize}
	for more := true; more; {
		page, err := view.List(ctx, q)
		if err != nil {
			return m, err
		}
		for _, m := range page.Items {
			if end.Ends(string(m.ID)) {
				fits, ids = append(fits, m), append(ids, string(m.ID))
			}
		}
		q.Cursor, more = page.Next, page.Next != ""
	}
	if len(fits) == 0 {
		return m, amber.Errorf(amber.KindNotFound, "find memory", string(end), "no id in the snapshot ends in these digits")
	}
	_, err = end.Only("memory", ids)
	return fits[0], err
}
