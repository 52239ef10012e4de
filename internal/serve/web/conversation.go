package web

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// How much of a session is shown in one page.
const (
	shownTurn     = 800     // of a turn, in bytes of the page
	shownState    = 8 << 10 // of a loop or a state
	shownSummary  = 1 << 10
	mostSummaries = 10
	mostActivity  = 40
)

// conversationData is what the screen of a session shows.
type conversationData struct {
	Session     amber.Session
	Catalogued  bool
	Oldest      bool
	Turns       []turnRow
	Next        amber.Cursor
	SetAside    []amber.SetAside // turns that cannot be read
	First       bool
	Compactions []summaryRow
	MoreSums    int
	Loop        *amber.PendingLoop
	LoopState   long
	State       *amber.SessionState
	StateText   long
	Activity    []amber.Activity
	MoreActs    int
	Memories    []amber.Memory
	MoreMems    bool
}

// turnRow is a turn as far as a page shows it.
type turnRow struct {
	amber.ListedTurn
	Shown long
	URL   string
}

// summaryRow is the summary of turns that a host dropped.
type summaryRow struct {
	amber.Compaction
	Shown long
}

func (v sessionScreens) conversation(ctx context.Context, store amber.Store) error {
	id := amber.SessionID(v.r.PathValue("id"))
	d := conversationData{Oldest: v.query("order") == "oldest", First: v.query("cursor") == ""}
	session, missing := store.Sessions.Session(ctx, id)
	if missing != nil && amber.KindOf(missing) != amber.KindNotFound {
		return missing
	}
	d.Session, d.Catalogued = session, missing == nil
	if err := d.readTurns(ctx, v.visit, store, id); err != nil {
		return err
	}
	if !d.Catalogued && len(d.Turns) == 0 && len(d.SetAside) == 0 && d.First {
		return missing
	}
	d.Session.ID = id
	if d.First {
		if err := d.readRest(ctx, store); err != nil {
			return err
		}
	}
	title := "Session " + clip.Marked(string(id), 60)
	if d.Session.Name != "" && d.Session.Name != string(id) {
		title = "Session: " + d.Session.Name
	}
	return v.render("conversation", screen{Title: visible(title), Nav: "sessions", Command: v.command("session", "show", string(id))}, d)
}

func (d *conversationData) readTurns(ctx context.Context, v *visit, store amber.Store, id amber.SessionID) error {
	page, err := store.Turns.ListTurns(ctx, amber.TurnQuery{SessionID: id, Oldest: d.Oldest, Excerpt: shownTurn, Limit: pageSize, Cursor: amber.Cursor(v.query("cursor"))})
	if err != nil {
		return err
	}
	d.Next, d.SetAside = page.Next, page.SetAside
	for _, t := range page.Items {
		shown := fitted(t.Content, shownTurn)
		shown.Bytes, shown.Cut = int(t.Bytes), int64(len(shown.Text)) < t.Bytes
		d.Turns = append(d.Turns, turnRow{ListedTurn: t, Shown: shown, URL: v.path("sessions", string(id), "turns", string(t.ID))})
	}
	return nil
}

// readRest reads what hangs on the session. A part that the backend does not have is
// left out.
func (d *conversationData) readRest(ctx context.Context, store amber.Store) error {
	for _, read := range []func(context.Context, amber.Store) error{d.readCompactions, d.readLoop, d.readState, d.readActivity, d.readMemories} {
		if err := read(ctx, store); err != nil && amber.KindOf(err) != amber.KindNotFound && amber.KindOf(err) != amber.KindUnsupported {
			return err
		}
	}
	return nil
}

func (d *conversationData) readCompactions(ctx context.Context, store amber.Store) error {
	return amber.Each(ctx, store.Compactions.Compactions, d.Session.ID, func(c amber.Compaction) error {
		if len(d.Compactions) == mostSummaries {
			d.Compactions, d.MoreSums = d.Compactions[1:], d.MoreSums+1
		}
		text := fitted(c.Summary, shownSummary)
		c.Summary = ""
		d.Compactions = append(d.Compactions, summaryRow{c, text})
		return nil
	})
}

func (d *conversationData) readLoop(ctx context.Context, store amber.Store) error {
	l, err := store.Loops.LoadLoop(ctx, d.Session.ID)
	if err == nil {
		d.Loop, d.LoopState = &l, jsonText(l.State)
	}
	return err
}

func (d *conversationData) readState(ctx context.Context, store amber.Store) error {
	s, err := store.States.LoadState(ctx, d.Session.ID)
	if err == nil {
		d.State, d.StateText = &s, jsonText(s.Document)
	}
	return err
}

// jsonText lays a JSON document out for readers.
func jsonText(doc json.RawMessage) long {
	var b bytes.Buffer
	if len(doc) > 4*shownState || json.Indent(&b, doc, "", "  ") != nil {
		b.Reset()
		b.Write(doc)
	}
	l := fitted(b.String(), shownState)
	l.Bytes = len(doc)
	return l
}

func (d *conversationData) readActivity(ctx context.Context, store amber.Store) error {
	all, err := store.Activities.ListActivity(ctx, d.Session.ID, "")
	d.MoreActs = max(0, len(all)-mostActivity)
	d.Activity = all[d.MoreActs:]
	return err
}

// readMemories finds what was remembered while the session went on. Listings know no
// session, so the time it took bounds the search.
func (d *conversationData) readMemories(ctx context.Context, store amber.Store) error {
	if !d.Catalogued {
		return nil
	}
	q := amber.ListQuery{All: true, Limit: pageSize, Filter: amber.Filter{Since: d.Session.StartedAt}}
	if !d.Session.EndedAt.IsZero() {
		q.Until = d.Session.EndedAt.Add(time.Minute) // the digest comes behind the end
	}
	page, err := store.Memories.List(ctx, q)
	for _, m := range page.Items {
		if m.SessionID == d.Session.ID && len(d.Memories) < 10 {
			d.Memories = append(d.Memories, m)
		}
	}
	d.MoreMems = page.Next != "" || len(d.Memories) == 10
	return err
}

// turnData is what the screen of one turn shows.
type turnData struct {
	amber.Turn
	Text         string
	From, To     int
	Bytes        int
	Before, Next string // addresses; "": there is nothing
	Session      string // address
}

// turn shows one turn, a part at a time.
func (v sessionScreens) turn(ctx context.Context, store amber.Store) error {
	id := v.r.PathValue("turn")
	t, err := store.Turns.Turn(ctx, amber.TurnID(id))
	if err != nil {
		return err
	}
	if string(t.SessionID) != v.r.PathValue("id") {
		return amber.Errorf(amber.KindNotFound, "read turn", clip.Marked(id, 80), "session %s has no such turn", clip.Marked(v.r.PathValue("id"), 80))
	}
	d := turnData{Turn: t, Bytes: len(t.Content), Session: v.path("sessions", string(t.SessionID))}
	d.cut(v.query("at"), v.path("sessions", string(t.SessionID), "turns", id))
	return v.render("turn", screen{Title: "Turn of the " + string(t.Role), Nav: "sessions", Command: v.command("session", "show", string(t.SessionID))}, d)
}

// cut chooses the part of the text that begins at a byte.
func (d *turnData) cut(at, here string) {
	from, _ := strconv.Atoi(at) // the beginning where it is none
	from = min(max(from, 0), len(d.Content))
	for from > 0 && from < len(d.Content) && !utf8.RuneStart(d.Content[from]) {
		from--
	}
	shown := fitted(d.Content[from:], maxDrawn)
	d.Text, d.From, d.To = shown.Text, from, from+len(shown.Text)
	if shown.Cut {
		d.Next = addQuery(here, "at", strconv.Itoa(d.To))
	}
	if from > 0 {
		d.Before = addQuery(here, "at", strconv.Itoa(max(0, from-shownWhole)))
	}
}
