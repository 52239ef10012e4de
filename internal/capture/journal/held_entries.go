package journal

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// heldEntry puts a file in quarantine and its session together.
func (j *Journal) heldEntry(key Key, h Held) wire.HeldEntry {
	s, _ := j.Origin(key) // a session without an origin goes by its key
	return wire.HeldEntry{
		Key: string(key), Host: s.Host, SessionID: s.ID,
		Name: h.Name, Bytes: h.Bytes, Seq: h.Seq, At: h.At, Reason: h.Reason, Payload: h.Payload,
	}
}

// ShowHeld returns one file in the quarantine of the session that a key or an id
// names, with its payload: see [Journal.Held]. Errors: not_found; conflict when several
// hosts have a session of that id; those of the disk.
func (j *Journal) ShowHeld(session, name string) (wire.HeldEntry, error) {
	keys, err := j.Find(session)
	if err != nil {
		return wire.HeldEntry{}, err
	}
	if len(keys) != 1 {
		return wire.HeldEntry{}, amber.Errorf(amber.KindConflict, "find session", "", "%d hosts have a session of that id; give its key", len(keys))
	}
	h, err := j.Held(keys[0], name)
	if err != nil {
		return wire.HeldEntry{}, err
	}
	return j.heldEntry(keys[0], h), nil
}

// Find returns the sessions that a key or an id names; all of them for "". Errors:
// not_found.
func (j *Journal) Find(name string) ([]Key, error) {
	keys, err := j.Keys()
	if err != nil || name == "" {
		return keys, err
	}
	var chosen []Key
	for _, k := range keys {
		s, _ := j.Origin(k) // a session without an origin goes by its key
		if name == string(k) || name == string(s.ID) {
			chosen = append(chosen, k)
		}
	}
	if len(chosen) == 0 {
		return nil, amber.Errorf(amber.KindNotFound, "find session", name[:min(len(name), amber.MaxIDBytes)], "the journal has no such session").
			WithHint("amber journal status")
	}
	return chosen, nil
}

// HeldEntries lists what is in quarantine of sessions, without the payloads.
func (j *Journal) HeldEntries(ctx context.Context, keys []Key) ([]wire.HeldEntry, error) {
	var items []wire.HeldEntry
	for _, k := range keys {
		err := j.Quarantined(ctx, k, func(h Held) error {
			h.Payload = nil // a list has no room for it
			items = append(items, j.heldEntry(k, h))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return items, nil
}

// HeldOf is [Journal.HeldEntries] of a session, by its id or its key, or of every one
// for "". Errors: not_found; those of the disk.
func (j *Journal) HeldOf(ctx context.Context, session string) ([]wire.HeldEntry, error) {
	keys, err := j.Find(session)
	if err != nil {
		return nil, err
	}
	return j.HeldEntries(ctx, keys)
}

// RetryOf is [Journal.RetryHeld] for what a request names. Errors: not_found; invalid
// for a name without a session; those of the journal.
func (j *Journal) RetryOf(ctx context.Context, r wire.HeldRetry) ([]wire.HeldEntry, error) {
	const op = "retry quarantine"
	if r.Name != "" && r.Session == "" {
		return nil, amber.Errorf(amber.KindInvalid, op, r.Name, "a name needs a session: files of several sessions may have one name")
	}
	items, err := j.HeldOf(ctx, r.Session)
	if err != nil {
		return nil, err
	}
	if r.Name == "" {
		return j.RetryHeld(ctx, items)
	}
	items = slices.DeleteFunc(items, func(h wire.HeldEntry) bool { return h.Name != r.Name })
	if len(items) == 0 {
		return nil, amber.Errorf(amber.KindNotFound, op, r.Name, "no such file in quarantine")
	}
	return j.RetryHeld(ctx, items)
}

// RetryHeld puts entries back into the journal and returns them. An entry is in the
// journal again before it leaves quarantine; what the store took already it knows by
// its id.
func (j *Journal) RetryHeld(ctx context.Context, items []wire.HeldEntry) ([]wire.HeldEntry, error) {
	var done []wire.HeldEntry
	for _, h := range items {
		s := Session{Host: h.Host, ID: h.SessionID}
		if h.Seq == 0 || s.Check() != nil {
			continue // not an entry, or its session is not known
		}
		whole, err := j.Held(Key(h.Key), h.Name)
		if err != nil {
			return done, err
		}
		if _, err := j.Append(ctx, s, Entry{Payload: whole.Payload}); err != nil {
			return done, err
		}
		if err := j.Discard(ctx, Key(h.Key), h.Name); err != nil {
			return done, err
		}
		done = append(done, h)
	}
	return done, nil
}

// DiscardHeld removes files from quarantine for good.
func (j *Journal) DiscardHeld(ctx context.Context, items []wire.HeldEntry) error {
	for _, h := range items {
		if err := j.Discard(ctx, Key(h.Key), h.Name); err != nil {
			return err
		}
	}
	return nil
}
