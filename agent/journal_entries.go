package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/guard/redact"
)

// JournalEntry is one entry of the journal.
type JournalEntry struct {
	Key       journal.Key        `json:"key"`
	Host      string             `json:"host"`
	SessionID amber.SessionID    `json:"session_id"`
	Seq       int64              `json:"seq"`
	At        amber.Time         `json:"at"`
	Drained   bool               `json:"drained"`
	Event     *journal.HostEvent `json:"event,omitempty"`
	Gap       *journal.Gap       `json:"gap,omitempty"`     // in place of an entry there was no room for
	Payload   string             `json:"payload,omitempty"` // of an entry that is not an event of this version
}

// JournalListing reads the journal page by page. A cursor is a key and a
// sequence.
type JournalListing struct {
	Journal   *journal.Journal
	Keys      []journal.Key // the sessions
	Cursors   *Cursors
	Undrained bool // leave out what is drained
	Redact    *redact.Redactor
	Damaged   func(journal.Key) // gets sessions that are damaged
}

// errPageFull ends the reading of a session.
var errPageFull = errors.New("the page is full")

// Page returns up to n entries behind a cursor. Errors: invalid for a cursor that is
// not one of a listing.
func (l JournalListing) Page(ctx context.Context, n int, c amber.Cursor) (page amber.Page[JournalEntry], err error) {
	from, after, err := l.place(c)
	if err != nil {
		return page, err
	}
	page.Items = []JournalEntry{}
	for _, key := range l.Keys {
		if key < from {
			continue
		}
		if key != from {
			after = 0
		}
		err := l.session(ctx, key, after, func(e JournalEntry) error {
			if len(page.Items) == n {
				last := page.Items[n-1]
				page.Next = amber.Cursor(string(last.Key) + "." + strconv.FormatInt(last.Seq, 10))
				return errPageFull
			}
			page.Items = append(page.Items, e)
			return nil
		})
		if errors.Is(err, errPageFull) {
			return page, nil
		}
		if err != nil {
			return page, err
		}
	}
	return page, nil
}

// place reads a cursor.
func (l JournalListing) place(c amber.Cursor) (key journal.Key, seq int64, err error) {
	if c == "" {
		return "", 0, nil
	}
	k, n, _ := strings.Cut(string(c), ".")
	seq, err = strconv.ParseInt(n, 10, 64)
	if err == nil {
		key, err = journal.ParseKey(k)
	}
	if err != nil || seq < 1 {
		return "", 0, amber.Errorf(amber.KindInvalid, "read cursor", "", "the cursor is not one of journal show: want the next of its last page")
	}
	return key, seq, nil
}

// session reads the entries of one session behind a sequence.
func (l JournalListing) session(ctx context.Context, key journal.Key, after int64, fn func(JournalEntry) error) error {
	drained, err := l.Cursors.Of(ctx, l.Journal, key)
	if err != nil {
		drained = 0 // said before
	}
	if l.Undrained {
		after = max(after, drained)
	}
	origin, _ := l.Journal.Origin(key) // a session without an origin goes by its key
	damage, err := l.Journal.Look(ctx, key, func(f journal.Frame) error {
		if f.Seq <= after {
			return nil
		}
		e := JournalEntry{Key: key, Host: origin.Host, SessionID: origin.ID, Seq: f.Seq, At: f.At, Drained: f.Seq <= drained}
		l.fill(&e, f)
		return fn(e)
	})
	if damage.Any() && err == nil {
		l.Damaged(key)
	}
	return err
}

// fill says what a frame holds, without what the rules of today take for a
// secret.
func (l JournalListing) fill(e *JournalEntry, f journal.Frame) {
	clean, _ := l.Redact.JSON(string(f.Payload), nil)
	if f.Type == journal.TypeGap {
		e.Gap = &journal.Gap{}
		if json.Unmarshal([]byte(clean), e.Gap) == nil {
			return
		}
		e.Gap = nil
	}
	var ev journal.HostEvent
	if json.Unmarshal([]byte(clean), &ev) == nil && ev.Schema == journal.HostEventSchema {
		e.Event = &ev
		return
	}
	e.Payload, _ = l.Redact.String(strings.ToValidUTF8(clean, "\ufffd"))
}

// Says returns the kind of an entry and the words of it that people look for.
func (e JournalEntry) Says() (kind, text string) {
	switch {
	case e.Gap != nil:
		return "gap", fmt.Sprintf("%d bytes had no room: %s", e.Gap.DroppedBytes, e.Gap.About)
	case e.Event == nil:
		return "unknown", e.Payload
	}
	ev := e.Event
	kind = string(ev.Kind)
	if ev.Kind == journal.HostOther && ev.NativeEvent != "" {
		kind = ev.NativeEvent
	}
	for _, s := range []string{ev.Prompt, ev.Answer, ev.Message, ev.Reason} {
		if s != "" {
			return kind, s
		}
	}
	if ev.Tool != nil {
		return kind, ev.Tool.Name
	}
	return kind, string(ev.Raw)
}
