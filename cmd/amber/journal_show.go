package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/internal/redact"
	"github.com/amber-memory/amber/journal"
)

// journalEntry is one entry as journal show prints it.
type journalEntry struct {
	Key       journal.Key      `json:"key"`
	Host      string           `json:"host"`
	SessionID amber.SessionID  `json:"session_id"`
	Seq       int64            `json:"seq"`
	At        amber.Time       `json:"at"`
	Drained   bool             `json:"drained"`
	Event     *amber.HostEvent `json:"event,omitempty"`
	Gap       *journal.Gap     `json:"gap,omitempty"`     // in place of an entry there was no room for
	Payload   string           `json:"payload,omitempty"` // of an entry that is not an event of this version
}

func (a *app) journalShowCommand() *cobra.Command {
	var f pageFlags
	var session string
	var undrained bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the entries of the journal",
		Long: `Print the entries that the journal holds, session by session, oldest first. Entries are
removed once they are drained, so these are the ones that wait, and drained ones
beside them; --undrained leaves those out. Secrets were removed before an entry was
written, and what newer rules find is removed before it is printed. Nothing is
changed.`,
		Example: `  amber journal show --session 0199a3f2 --undrained
  amber journal show --jsonl`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := pageSize(f.n); err != nil {
				return err
			}
			at, err := a.configured()
			if err != nil {
				return err
			}
			j, err := at.Journal()
			if err != nil {
				return err
			}
			keys, err := chooseSessions(j, session)
			if err != nil {
				return err
			}
			store, err := at.Cursors(cmd.Context())
			if err != nil {
				a.out.note("it is not known what is drained: %s", oneLine(err.Error(), 400))
			}
			defer store.Close()
			l := journalListing{a: a, j: j, keys: keys, store: store, undrained: undrained, redactor: at.Config().Redactor()}
			return showPage(a, cmd, f, func(n int, c amber.Cursor) (amber.Page[journalEntry], error) { return l.page(cmd.Context(), n, c) }, a.printEntries)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&session, "session", "", "only of this session: its id, or its key")
	cmd.Flags().BoolVar(&undrained, "undrained", false, "only entries that wait to be drained")
	return cmd
}

// journalListing reads the journal page by page. A cursor is a key and a
// sequence.
type journalListing struct {
	a         *app
	j         *journal.Journal
	keys      []journal.Key
	store     *agent.Cursors
	undrained bool
	redactor  *redact.Redactor
}

// errPageFull ends the reading of a session.
var errPageFull = errors.New("the page is full")

func (l journalListing) page(ctx context.Context, n int, c amber.Cursor) (page amber.Page[journalEntry], err error) {
	from, after, err := l.place(c)
	if err != nil {
		return page, err
	}
	page.Items = []journalEntry{}
	for _, key := range l.keys {
		if key < from {
			continue
		}
		if key != from {
			after = 0
		}
		err := l.session(ctx, key, after, func(e journalEntry) error {
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
func (l journalListing) place(c amber.Cursor) (key journal.Key, seq int64, err error) {
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
func (l journalListing) session(ctx context.Context, key journal.Key, after int64, fn func(journalEntry) error) error {
	drained, err := l.store.Of(ctx, l.j, key)
	if err != nil {
		drained = 0 // said before
	}
	if l.undrained {
		after = max(after, drained)
	}
	origin, _ := l.j.Origin(key) // one that nobody can name goes by its key
	damage, err := l.j.Look(ctx, key, func(f journal.Frame) error {
		if f.Seq <= after {
			return nil
		}
		e := journalEntry{Key: key, Host: origin.Host, SessionID: origin.ID, Seq: f.Seq, At: f.At, Drained: f.Seq <= drained}
		l.fill(&e, f)
		return fn(e)
	})
	if damage.Any() && err == nil {
		l.a.out.note("session %s is damaged: amber journal verify tells more", key)
	}
	return err
}

// fill says what a frame holds, without what the rules of today take for a
// secret.
func (l journalListing) fill(e *journalEntry, f journal.Frame) {
	clean, _ := l.redactor.JSON(string(f.Payload), nil)
	if f.Type == journal.TypeGap {
		e.Gap = &journal.Gap{}
		if json.Unmarshal([]byte(clean), e.Gap) == nil {
			return
		}
		e.Gap = nil
	}
	var ev amber.HostEvent
	if json.Unmarshal([]byte(clean), &ev) == nil && ev.Schema == amber.HostEventSchema {
		e.Event = &ev
		return
	}
	e.Payload, _ = l.redactor.String(strings.ToValidUTF8(clean, "\ufffd"))
}

func (a *app) printEntries(w io.Writer, items []journalEntry) {
	rows := make([][]string, len(items))
	for i, e := range items {
		state := "waits"
		if e.Drained {
			state = "drained"
		}
		kind, text := e.says()
		rows[i] = []string{flat(string(e.SessionID)), strconv.FormatInt(e.Seq, 10), a.out.when(e.At), state, oneLine(kind, 24), oneLine(text, 100)}
	}
	table(w, []string{"SESSION", "SEQ", "WRITTEN", "STATE", "TYPE", "TEXT"}, rows)
}

// says returns the kind of an entry and the words of it that people look for.
func (e journalEntry) says() (kind, text string) {
	switch {
	case e.Gap != nil:
		return "gap", fmt.Sprintf("%d bytes had no room: %s", e.Gap.DroppedBytes, e.Gap.About)
	case e.Event == nil:
		return "unknown", e.Payload
	}
	ev := e.Event
	kind = string(ev.Kind)
	if ev.Kind == amber.HostOther && ev.NativeEvent != "" {
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
