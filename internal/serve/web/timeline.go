package web

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// maxScan is how many entries the server looks at for one page where a filter needs the records themselves.
const maxScan = 1000

// maxRead is how many bytes are read for one page: each entry is read with its whole text.
const maxRead = 64 << 20

// timelineScreen is what happened, newest first, and the stream of events.
type timelineScreen struct{ *visit }

func timelineRoutes(p *Page) {
	p.get("", withStore(timelineScreen.timeline))
	p.get("/{$}", func(v *visit) error { return v.redirect(addQuery(v.path() + "?" + v.r.URL.RawQuery)) })
	p.get("/events", on(timelineScreen.events))
}

// events passes the stream of events on. A browser that lost the stream says itself where it was, and
// asks at the address it began with.
func (v timelineScreen) events() error {
	q := url.Values{}
	if after := v.query("after"); after != "" && v.r.Header.Get("Last-Event-ID") == "" {
		q.Set("after", after)
	}
	return v.pass("/v1/tenants/"+string(v.tenant)+"/agents/"+string(v.agent)+"/events", q)
}

// The kinds to which the timeline can be limited.
const (
	kindMemories  = "memories"
	kindSessions  = "sessions"
	kindTurns     = "turns"
	kindNotes     = "notes"
	kindSnapshots = "snapshots"
	kindWork      = "work"
)

var timelineKinds = []string{kindMemories, kindSessions, kindTurns, kindNotes, kindSnapshots, kindWork}

// timelineData is what the timeline shows.
type timelineData struct {
	Kind, Project, Session string
	Kinds                  []string
	Rows                   []timelineRow
	Next                   string
	Problems               []string
	First                  bool   // the newest page
	After                  string // the event that the newest page was drawn behind; "": not known
	Filtered               bool
	Scanned                int
}

// timelineRow is one thing that happened.
type timelineRow struct {
	At      amber.Time
	What    string // memory, turn, ...
	Did     string // stored, changed, ...
	Title   string
	Text    string
	URL     string
	Project string
	Session amber.SessionID
	Named   string // the session, for readers
	Trust   amber.Trust
	Role    amber.Role
	Damaged bool // the record cannot be read

	change amber.Change
	mark   string // where its source goes on
	source int
}

func (v timelineScreen) timeline(ctx context.Context, store amber.Store) error {
	d := timelineData{Kind: v.query("kind"), Project: v.query("project"), Session: v.query("session"), Kinds: timelineKinds, First: v.query("cursor") == ""}
	if !slices.Contains(timelineKinds, d.Kind) {
		d.Kind = ""
	}
	d.Filtered = d.Kind != "" || d.Project != "" || d.Session != ""
	marks, err := readMarks(v.query("cursor"))
	if err != nil {
		return err
	}
	s := &stream{ctx: ctx, v: v.visit, store: store, kind: d.Kind, marks: marks, sessions: map[amber.SessionID]amber.Session{}, broken: map[amber.SessionID]error{}}
	if d.First {
		d.After = s.place()
		v.log.forget()
	}
	if err := s.fill(&d); err != nil {
		return err
	}
	d.Problems = s.problems
	return v.render("timeline", screen{Title: "Timeline", Nav: "timeline", Command: v.command("list", "--all")}, d)
}

// place is where the logs of changes end, as the id of an event; "" where a backend does not say.
func (s *stream) place() string {
	memory, err := s.store.Changes.Head(s.ctx)
	if err != nil {
		return ""
	}
	control, err := s.store.ControlChanges.Head(s.ctx)
	if err != nil {
		return ""
	}
	return string(memory) + "," + string(control)
}

// fill puts rows into a page until the page is full, or fill has read too much.
func (s *stream) fill(d *timelineData) error {
	s.open()
	for len(d.Rows) < pageSize && d.Scanned < maxScan && s.v.log.size() < maxRead {
		row, found, err := s.next()
		if err != nil {
			return err
		}
		if !found {
			return nil
		}
		d.Scanned++
		if err := s.resolve(&row); err != nil {
			return err
		}
		if d.takes(row) {
			row.Named = s.nameOf(row.Session)
			d.Rows = append(d.Rows, row)
		}
	}
	if s.more() {
		d.Next = s.marks.String()
	}
	return nil
}

func (d *timelineData) takes(r timelineRow) bool {
	return (d.Project == "" || r.Project == d.Project) && (d.Session == "" || string(r.Session) == d.Session)
}

// marks are where the sources of the stream go on, in their order.
type marks [sources]string

const maxMarks = 4 << 10

func (m marks) String() string {
	b, err := json.Marshal(m)
	if err != nil {
		panic("web: " + err.Error()) // they are strings
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func readMarks(s string) (m marks, err error) {
	if s == "" {
		return m, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(clip.Marked(s, maxMarks))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		return m, amber.Errorf(amber.KindInvalid, "read timeline", "", "the cursor is not one of the timeline").WithHint("open the timeline anew")
	}
	return m, nil
}

// The sources of the stream.
const (
	sourceMemory = iota
	sourceControl
	sourceSnapshots
	sourceNotes
	sources
)

// stream is what happened, merged of its sources by time, newest first.
type stream struct {
	ctx      context.Context
	v        *visit
	store    amber.Store
	kind     string
	marks    marks
	waiting  [sources][]timelineRow
	over     [sources]bool
	read     [sources]func() ([]timelineRow, bool, error) // more rows, and whether they are the last
	sessions map[amber.SessionID]amber.Session            // as far as rows show them
	broken   map[amber.SessionID]error                    // sessions that cannot be read
	problems []string
}

// open finds out which sources are asked.
func (s *stream) open() {
	ofSessions := []amber.ChangeScope{amber.ChangeSession, amber.ChangeLoop, amber.ChangeState, amber.ChangeCompaction}
	scopes := map[string][]amber.ChangeScope{
		"":           append(ofSessions, amber.ChangeMemory, amber.ChangeTurn), // notes that are in the log are listed, too
		kindMemories: {amber.ChangeMemory}, kindTurns: {amber.ChangeTurn}, kindSessions: ofSessions,
	}[s.kind]
	s.over = [sources]bool{
		sourceMemory:    s.kind != "" && scopes == nil,
		sourceControl:   s.kind != "" && s.kind != kindWork,
		sourceSnapshots: s.kind != "" && s.kind != kindSnapshots,
		sourceNotes:     s.kind != "" && s.kind != kindNotes,
	}
	s.read = [sources]func() ([]timelineRow, bool, error){
		sourceMemory:    s.fromLog(sourceMemory, s.store.Changes, scopes),
		sourceControl:   s.fromLog(sourceControl, s.store.ControlChanges, nil),
		sourceSnapshots: s.fromSnapshots(),
		sourceNotes:     s.fromNotes(),
	}
}

// next is the newest row of all sources.
func (s *stream) next() (row timelineRow, found bool, err error) {
	newest := -1
	for i := range sources {
		if err := s.await(i); err != nil {
			return row, false, err
		}
		if len(s.waiting[i]) > 0 && (newest < 0 || s.waiting[newest][0].At.Before(s.waiting[i][0].At)) {
			newest = i
		}
	}
	if newest < 0 {
		return row, false, nil
	}
	row = s.waiting[newest][0]
	s.waiting[newest], s.marks[newest] = s.waiting[newest][1:], row.mark
	return row, true, nil
}

// await reads a source that has no row waiting. A source that a backend does not have is empty.
func (s *stream) await(i int) error {
	for len(s.waiting[i]) == 0 && !s.over[i] {
		rows, last, err := s.read[i]()
		switch amber.KindOf(err) {
		case "":
		case amber.KindUnsupported, amber.KindNotFound:
			last = true
		case amber.KindRefused, amber.KindInvalid, amber.KindConflict:
			return err
		default:
			if i == sourceMemory {
				return err
			}
			s.problems, last = append(s.problems, err.Error()), true
		}
		s.waiting[i], s.over[i] = rows, last
	}
	return nil
}

// more reports whether there is a row behind the page.
func (s *stream) more() bool {
	for i := range sources {
		if s.await(i) == nil && len(s.waiting[i]) > 0 {
			return true
		}
	}
	return false
}
