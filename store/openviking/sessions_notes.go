package openviking

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/openviking/api"
)

// mirroredTo is how much of a conversation the server has. An entry with the number 0 says that it
// may have something.
type mirroredTo struct {
	N int    `json:"n,omitempty"` // messages
	D string `json:"d,omitempty"` // digest of them
	C int    `json:"c,omitempty"` // of these, the server was asked to learn from so many
	// Unsure says that more were on their way, and that the server may have them.
	Unsure bool `json:"u,omitempty"`
}

// fits reports whether messages begin with those that the server has.
func (at mirroredTo) fits(messages []api.Message) bool {
	return at.N == 0 || at.N <= len(messages) && messages[at.N-1].Tag == tagOf(at.N, at.D)
}

// reached is the entry of a conversation of which the server has the first n messages.
func reached(messages []api.Message, n int) (at mirroredTo) {
	if n > 0 {
		at, _ = parseTag(messages[n-1].Tag)
	}
	return at
}

// SetAside is a conversation that is not on the server, and why. It is tried again when it changes,
// and when a feed is forced.
type SetAside struct {
	ID     amber.SessionID `json:"id"`
	Reason string          `json:"reason"`
}

const maxSetAside = 400

// sessionNotes is what the feeder wants to know of conversations the next time. Its position is one
// of its own in the change log.
type sessionNotes struct {
	pace
	Settings string `json:"settings,omitempty"`
	// Listing says that the sessions of the primary are gone through, from Listed on.
	Listing bool         `json:"listing,omitempty"`
	Listed  amber.Cursor `json:"listed,omitempty"`
	// Recheck says that the conversations on the server are gone through, from a shard and behind
	// a session: some of their turns may be gone.
	Recheck bool            `json:"recheck,omitempty"`
	Shard   int             `json:"shard,omitempty"`
	After   amber.SessionID `json:"after,omitempty"`

	Aside     []SetAside `json:"aside,omitempty"`
	Uncounted int        `json:"uncounted,omitempty"` // set aside and not listed

	Learnt bool `json:"learnt,omitempty"` // the server was asked to learn from some, once
}

func (n *sessionNotes) recheck() { n.Recheck, n.Shard, n.After = true, 0, "" }

func (n *sessionNotes) setAside(id amber.SessionID, reason string) {
	n.release(id)
	if len(n.Aside) >= maxSetAside {
		n.Uncounted++
		return
	}
	n.Aside = append(n.Aside, SetAside{id, oneLine(reason, maxReason)})
}

func (n *sessionNotes) release(id amber.SessionID) bool {
	before := len(n.Aside)
	n.Aside = slices.DeleteFunc(n.Aside, func(a SetAside) bool { return a.ID == id })
	return len(n.Aside) < before
}

// sessionsPlace names the cursor of the conversations.
func (l layout) sessionsPlace(o *Options) string { return l.place(o) + "#sessions" }

// loadSessions reads the cursor of the conversations. Notes that cannot be read are as none: then
// everything is gone through, and the server is asked.
func (s *Store) loadSessions(ctx context.Context, l layout) (c amber.IndexCursor, n sessionNotes, err error) {
	c, err = s.o.Cursors.IndexCursor(ctx, l.sessionsPlace(&s.o))
	if len(c.Notes) > 0 && json.Unmarshal(c.Notes, &n) != nil {
		n = sessionNotes{}
	}
	return c, n, err
}

// shards is in how many parts the entries of conversations are kept, so that one that changes does
// not write all of them.
const shards = 64

// shard is a part of the entries.
type shard struct {
	place string
	fence int64
	all   map[amber.SessionID]mirroredTo
}

func shardOf(id amber.SessionID) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return int(h.Sum32() % shards)
}

// shard reads a part of the entries. One that cannot be read is as empty: the server is asked.
func (s *Store) shard(ctx context.Context, l layout, n int) (*shard, error) {
	x := &shard{place: fmt.Sprintf("%s/%02d", l.sessionsPlace(&s.o), n), all: map[amber.SessionID]mirroredTo{}}
	c, err := s.o.Cursors.IndexCursor(ctx, x.place)
	if err != nil {
		return nil, err
	}
	x.fence = c.Fence
	if len(c.Notes) > 0 && json.Unmarshal(c.Notes, &x.all) != nil {
		x.all = map[amber.SessionID]mirroredTo{}
	}
	return x, nil
}

// keep makes the entry of a session durable, nil for none. Errors: busy when another feeder was
// faster; invalid where there is no room for more.
func (s *Store) keep(ctx context.Context, x *shard, id amber.SessionID, at *mirroredTo) error {
	if delete(x.all, id); at != nil {
		x.all[id] = *at
	}
	b, err := json.Marshal(x.all)
	if err != nil || len(b) > amber.MaxIndexNotes {
		return amber.Errorf(amber.KindInvalid, "note session", string(id), "the notes about sessions have %d bytes, the limit is %d: %v", len(b), amber.MaxIndexNotes, err)
	}
	err = s.o.Cursors.MoveIndexCursor(ctx, x.place, amber.IndexCursor{Fence: x.fence + 1, Notes: b})
	if amber.KindOf(err) == amber.KindConflict {
		return amber.Errorf(amber.KindBusy, "note session", string(id), "another feeder moved the cursor: %w", err)
	}
	if err == nil {
		x.fence++
	}
	return err
}
