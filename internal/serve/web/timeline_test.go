package web_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func TestAnEmptyTimelineSaysWhatToDoFirst(t *testing.T) {
	t.Parallel()
	p := newRig(t).visitor("").get("")
	sound(t, p)
	shows(t, p, "Nothing has happened yet", "amber remember", "amber setup", "amber import")
}

// lived is an agent to whom one of everything has happened.
func lived(t *testing.T) *rig {
	r := newRig(t)
	store := r.store("acme", "ada")
	s := must.Get(store.Sessions.StartSession(t.Context(), amber.SessionStart{ID: "s1", Name: "first steps", Project: "shop"}))(t)
	r.say(s.ID, amber.RoleUser, "which database?")
	must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{Title: "Database", Content: "We chose PostgreSQL", Identities: amber.Identities{ProjectID: "shop", SessionID: "s1"}}))(t)
	r.remember("Tea is drunk at four")
	must.Get(store.Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "decisions/database", Content: "# PostgreSQL"}))(t)
	must.Get(store.Approvals.RequestApproval(t.Context(), amber.ApprovalRequest{TaskID: "t1", NodeID: "n", Summary: "Drop the old table", Payload: json.RawMessage(`{}`)}))(t)
	snaps := must.Get(r.agent("acme", "ada").Snapshots(t.Context()))(t)
	must.Get(snaps.Snapshot(t.Context(), wire.SnapshotRequest{Tenant: "acme", Agent: "ada", Label: "before the move"}))(t)
	return r
}

func TestTheTimelineIsOneStreamOfEverything(t *testing.T) {
	t.Parallel()
	r := lived(t)
	b := r.visitor("")
	p := b.get("")
	sound(t, p)
	shows(t, p, "before the move", "Drop the old table", "decisions/database", "Tea is drunk at four", "Database", "which database?", "first steps")
	got := p.rows()
	if s, m := slices.Index(got, "first steps"), slices.Index(got, "Database"); s < m || m < 0 {
		t.Errorf("the stream is not newest first: %q", got)
	}
	must.Equal(t, "newest", got[0], "before the move")
	for kind, want := range map[string][]string{
		"memories": {"Tea is drunk at four", "Database"}, "turns": {"which database?"}, "notes": {"decisions/database"},
		"snapshots": {"before the move"}, "work": {"Drop the old table"}, "sessions": {"first steps"},
	} {
		p := b.get(adaHome + "?kind=" + kind)
		sound(t, p)
		must.Equal(t, kind, p.rows(), want)
	}
	must.Equal(t, "of the project", b.get(adaHome+"?project=shop").rows(), []string{"Database", "which database?", "first steps"})
	must.Equal(t, "of the session", b.get(adaHome+"?session=s1&kind=memories").rows(), []string{"Database"})
	must.Equal(t, "of no session", b.get(adaHome+"?session=none").rows(), nil)
	bar := ""
	for n := range p.all("p") {
		bar += attribute(n, "data-live")
	}
	must.Equal(t, "stream", bar, adaHome+"/events")
}

func TestPagesOfTheTimelineAreComplete(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	store := r.store("acme", "ada")
	var want []string
	for i := range 130 {
		m := fmt.Sprintf("memory %d", i)
		must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: m}))(t)
		want = append(want, m)
		if i%40 == 0 {
			n := fmt.Sprintf("note %d", i)
			must.Get(store.Notes.WriteNote(t.Context(), amber.NoteWrite{Name: n, Content: "text"}))(t)
			want = append(want, n)
		}
	}
	slices.Sort(want)
	b := r.visitor("")
	var got []string
	next := ""
	for range 4 {
		p := b.get(strings.TrimPrefix(next, adaHome))
		if next != "" {
			p = b.get(next)
		}
		sound(t, p)
		got = append(got, p.rows()...)
		if next = p.href("Older"); next == "" {
			break
		}
	}
	slices.Sort(got)
	must.Equal(t, "every row once", got, want)
	for _, bad := range []string{adaHome + "?cursor=x", adaHome + "?cursor=" + strings.Repeat("A", 9000)} {
		must.Equal(t, "a bad cursor", b.get(bad).status, http.StatusBadRequest)
	}
}

func TestTheTimelineOfHostileTextIsHarmless(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	store := r.store("acme", "ada")
	must.Get(store.Sessions.StartSession(t.Context(), amber.SessionStart{ID: amber.SessionID(`"><b>`), Name: harmfulName[:48], Project: harmfulName}))(t)
	for i := range 60 {
		must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{Title: harmfulName, Content: fmt.Sprint(i) + strings.Repeat(harmfulName+"\t", 300), Identities: amber.Identities{ProjectID: harmfulName, SessionID: `"><b>`}}))(t)
	}
	p := r.visitor("").get("")
	sound(t, p)
	shows(t, p, "<script>alert(1)</script>")
	for range 60 {
		r.say(`"><b>`, amber.RoleTool, strings.Repeat("\x1b\u202e", 2000)+harmful)
	}
	sound(t, r.visitor("").get(""))
}

func TestTheTimelineAsksForATokenAndItsScope(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	for _, path := range []string{"", "events", "sessions", "sessions/s", "notes", "notes/n", "graph?memory=x"} {
		must.Equal(t, "stranger at "+path, r.visitor("").get(path).status, http.StatusUnauthorized)
		if path != "" {
			must.Equal(t, "another tenant at "+path, r.visitor(eve).get(path).status, http.StatusNotFound)
		}
	}
	b := r.mayNotRead()
	for _, path := range []string{"", "events", "sessions", "sessions/s", "notes", "notes/n", "graph?memory=01900000-0000-7000-8000-000000000000"} {
		must.Equal(t, "without the scope at "+path, b.get(path).status, http.StatusForbidden)
	}
}

// listen opens the stream of the page.
func (b *browser) listen(last string) (next func() string, over func() error) {
	b.r.t.Helper()
	return b.listenAt("/events", last)
}

func (b *browser) listenAt(path, last string) (next func() string, over func() error) {
	b.r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	b.r.t.Cleanup(cancel)
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, b.r.url+adaHome+path, nil))(b.r.t)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp := must.Get(b.http.Do(req))(b.r.t)
	b.r.t.Cleanup(func() { _ = resp.Body.Close() })
	must.Equal(b.r.t, "status", resp.StatusCode, http.StatusOK)
	must.Equal(b.r.t, "type", resp.Header.Get("Content-Type"), "text/event-stream")
	lines := bufio.NewScanner(resp.Body)
	next = func() (id string) {
		for lines.Scan() {
			if v, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				id = v
			}
			if lines.Text() == "" && id != "" {
				return id
			}
		}
		return ""
	}
	return next, func() error {
		for lines.Scan() {
		}
		return lines.Err()
	}
}

func TestTheStreamGoesOnWhereItWasAndEndsWithItsToken(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	b := r.visitor(adaRead)
	next, over := b.listen("")
	remote := must.Get(client.New(client.Options{URL: r.url, Token: ada, Random: rand.Reader}))(t)
	store := must.Get(must.Get(remote.Agent("acme", "ada"))(t).Store(t.Context()))(t)
	must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "one"}))(t)
	first := next()
	if first == "" {
		t.Fatal("nothing was told")
	}
	must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "two"}))(t)
	second := next()
	again, _ := b.listen(first)
	must.Equal(t, "the event behind the last one", again(), second)
	shown, _ := b.listenAt("/events?after="+url.QueryEscape(first), "")
	must.Equal(t, "the event behind the one of the address", shown(), second)
	must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "three"}))(t)
	third := next()
	lost, _ := b.listenAt("/events?after="+url.QueryEscape(first), second)
	must.Equal(t, "the event behind the last one, which is later than the one of the address", lost(), third)
	r.keys.revoke(adaRead)
	must.NoError(t, over())
	must.Equal(t, "afterwards", b.get("").status, http.StatusUnauthorized)
}

// Each entry is read with its whole text, so a filter that few entries pass does not read without end.
func TestAPageOfTheTimelineReadsSoMuchAndGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const turns = 80
	for i := range turns {
		r.say("s1", amber.RoleTool, fmt.Sprintf("%d%s", i, strings.Repeat("x", amber.MaxContentBytes-10)))
	}
	b := r.visitor("")
	p := b.get(adaHome + "?kind=turns&session=none")
	sound(t, p)
	shows(t, p, "Nothing of this kind is among the entries that were looked at", "64 entries were looked at")
	p = b.get(p.href("Older"))
	sound(t, p)
	shows(t, p, "Nothing of this kind has happened")
	must.Equal(t, "rows of a page of large turns", len(b.get(adaHome+"?kind=turns").rows()), 50)
}
