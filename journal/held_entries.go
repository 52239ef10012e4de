package journal

import (
	"context"

	"github.com/amber-memory/amber"
)

// HeldEntry is a file in quarantine, and the session it belongs to.
type HeldEntry struct {
	Key       Key             `json:"key"`
	Host      string          `json:"host"`
	SessionID amber.SessionID `json:"session_id"`
	Held
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
func (j *Journal) HeldEntries(ctx context.Context, keys []Key) ([]HeldEntry, error) {
	var items []HeldEntry
	for _, k := range keys {
		s, _ := j.Origin(k)
		err := j.Quarantined(ctx, k, func(h Held) error {
			h.Payload = nil // a list has no room for it
			items = append(items, HeldEntry{Key: k, Host: s.Host, SessionID: s.ID, Held: h})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return items, nil
}

// RetryHeld puts entries back into the journal and returns them. An entry is in the
// journal again before it leaves quarantine; what the store took already it knows by
// its id.
func (j *Journal) RetryHeld(ctx context.Context, items []HeldEntry) ([]HeldEntry, error) {
	var done []HeldEntry
	for _, h := range items {
		s := Session{Host: h.Host, ID: h.SessionID}
		if h.Seq == 0 || s.Check() != nil {
			continue // not an entry, or its session is not known
		}
		whole, err := j.Held(h.Key, h.Name)
		if err != nil {
			return done, err
		}
		if _, err := j.Append(ctx, s, Entry{Payload: whole.Payload}); err != nil {
			return done, err
		}
		if err := j.Discard(ctx, h.Key, h.Name); err != nil {
			return done, err
		}
		done = append(done, h)
	}
	return done, nil
}

// DiscardHeld removes files from quarantine for good.
func (j *Journal) DiscardHeld(ctx context.Context, items []HeldEntry) error {
	for _, h := range items {
		if err := j.Discard(ctx, h.Key, h.Name); err != nil {
			return err
		}
	}
	return nil
}
