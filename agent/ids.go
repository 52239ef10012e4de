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

// named returns what of a listing has an id that ends in e, looking through it page by page. The argument what is the kind
// of thing that the ids name, for the error. Errors: invalid when several ids end in e.
func named[T any](e IDEnd, what string, page func(amber.Cursor) (amber.Page[T], error), id func(T) string) (found T, ok bool, err error) {
	var none T
	var fits []string
	var c amber.Cursor
	for more := true; more && len(fits) < maxNamed; more = c != "" {
		p, err := page(c)
		if err != nil {
			return none, false, err
		}
		for _, item := range p.Items {
			if e.Ends(id(item)) {
				found, fits = item, append(fits, id(item))
			}
		}
		c = p.Next
	}
	if len(fits) == 0 {
		return none, false, nil
	}
	if _, err := e.Only(what, fits); err != nil {
		return none, false, err
	}
	return found, true, nil
}

// FindMemory returns the memory that e names, live or forgotten, of any scope. A whole
// id is taken as it is. Errors: not_found; invalid when e fits several.
func FindMemory(ctx context.Context, s amber.Store, e IDEnd) (amber.MemoryID, error) {
	if id, ok := e.Whole(); ok {
		return id, nil
	}
	m, ok, err := named(e, "memory", func(c amber.Cursor) (amber.Page[amber.Memory], error) {
		return s.Memories.List(ctx, amber.ListQuery{All: true, Deleted: true, Limit: amber.MaxPageSize, Cursor: c})
	}, memoryID)
	if err == nil && !ok {
		err = amber.Errorf(amber.KindNotFound, "find memory", string(e), "no id ends in these digits").WithHint("amber list --all")
	}
	return m.ID, err
}

func memoryID(m amber.Memory) string { return string(m.ID) }

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
	found, ok, err := named(end, "session", func(c amber.Cursor) (amber.Page[amber.Session], error) {
		return s.Sessions.ListSessions(ctx, amber.SessionQuery{Limit: amber.MaxPageSize, Cursor: c})
	}, func(s amber.Session) string { return string(s.ID) })
	if err == nil && !ok {
		return id, nil
	}
	return found.ID, err
}

// FindSnapshot returns the snapshot of a query that end names. A whole id is taken as
// it is. Errors: not_found; invalid when end fits several.
func FindSnapshot(ctx context.Context, e wire.SnapshotReader, q wire.SnapshotQuery, end IDEnd) (amber.SnapshotID, error) {
	if id, ok := end.Whole(); ok {
		return amber.SnapshotID(id), nil
	}
	m, ok, err := named(end, "snapshot", func(c amber.Cursor) (amber.Page[wire.SnapshotMeta], error) {
		q.Limit, q.Cursor = amber.MaxPageSize, c
		return e.ListSnapshots(ctx, q)
	}, func(m wire.SnapshotMeta) string { return string(m.ID) })
	if err == nil && !ok {
		err = amber.Errorf(amber.KindNotFound, "find snapshot", string(end), "no id ends in these digits").WithHint("amber snapshot list")
	}
	return m.ID, err
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
	m, ok, err := named(end, "memory", func(c amber.Cursor) (amber.Page[amber.Memory], error) {
		return view.List(ctx, amber.ListQuery{All: true, Limit: amber.MaxPageSize, Cursor: c})
	}, memoryID)
	if err == nil && !ok {
		err = amber.Errorf(amber.KindNotFound, "find memory", string(end), "no id in the snapshot ends in these digits")
	}
	return m, err
}
