package engram_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/internal/test/must"
)

const at = "2026-01-02 03:04:05"

// note is an observation that lacks nothing.
func note(edit func(*engram.Observation)) engram.Observation {
	project := "shop"
	o := engram.Observation{
		ID: 7, SessionID: "s", Type: "decision", Title: "Title", Content: "Content", Project: &project, Scope: "project",
		RevisionCount: 1, DuplicateCount: 1, CreatedAt: at, UpdatedAt: at,
	}
	if edit != nil {
		edit(&o)
	}
	return o
}

func text(s string) *string { return &s }

func records(t testing.TB, c engram.Chunk) (memories []*amber.SyncMemory, rows []engram.Row) {
	t.Helper()
	rows, dropped := engram.ToRecords(c, engram.ReadOptions{User: "dev-a"})
	must.Equal(t, "dropped", len(dropped), 0)
	for _, r := range rows {
		must.Do(t, r.Record.Check())
		if r.Record.Memory != nil {
			memories = append(memories, r.Record.Memory)
		}
	}
	return memories, rows
}

func one(t testing.TB, o engram.Observation) *amber.SyncMemory {
	t.Helper()
	m, _ := records(t, engram.Chunk{Observations: []engram.Observation{o}})
	if len(m) != 1 {
		t.Fatalf("%d records, want 1", len(m))
	}
	return m[0]
}

func TestObservationIsAMemory(t *testing.T) {
	t.Parallel()
	got := one(t, note(nil))
	want := amber.SyncMemory{Memory: amber.Memory{
		ID: got.ID, Kind: amber.ProjectFact, Scope: amber.ScopeProject,
		Identities: amber.Identities{SessionID: "s", ProjectID: "shop"}, Title: "Title", Content: "Content",
		Tags: []string{}, Metadata: map[string]string{}, SourceRefs: []amber.SourceRef{}, Trust: amber.TrustImported,
		Origin: amber.Origin{Device: "engram", Counter: 1, Clock: got.Origin.Clock}, Revision: 1,
		ContentDigest: amber.ContentDigest("Content"),
		CreatedAt:     amber.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), UpdatedAt: amber.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
		Foreign: got.Foreign,
	}}
	must.Equal(t, "memory", got, &want, cmp.AllowUnexported(amber.Time{}))
	if got.Origin.Clock.Time() != got.UpdatedAt {
		t.Errorf("clock is %s, want the time of the row", got.Origin.Clock)
	}
	if s := string(got.Foreign["engram"]); strings.Contains(s, "Title") || strings.Contains(s, "Content") {
		t.Errorf("the text is kept twice: %s", s)
	}
}

func TestScopesAreNeverWidened(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scope   string
		project *string
		user    string
		want    amber.Scope
		ids     amber.Identities
	}{
		"project":         {"project", text("shop"), "u", amber.ScopeProject, amber.Identities{SessionID: "s", ProjectID: "shop"}},
		"no project":      {"project", nil, "u", amber.ScopeGlobal, amber.Identities{SessionID: "s"}},
		"personal":        {"personal", text("shop"), "u", amber.ScopeUser, amber.Identities{SessionID: "s", UserID: "u", ProjectID: "shop"}},
		"personal of ?":   {"personal", nil, "", amber.ScopeUser, amber.Identities{SessionID: "s", UserID: "engram"}},
		"personal of bad": {"personal", nil, strings.Repeat("x", 300), amber.ScopeUser, amber.Identities{SessionID: "s", UserID: "engram"}},
		"global":          {"global", text("shop"), "u", amber.ScopeGlobal, amber.Identities{SessionID: "s", ProjectID: "shop"}},
		"unknown":         {"team", text("shop"), "u", amber.ScopeProject, amber.Identities{SessionID: "s", ProjectID: "shop"}},
	} {
		o := note(func(o *engram.Observation) { o.Scope, o.Project = c.scope, c.project })
		rows, dropped := engram.ToRecords(engram.Chunk{Observations: []engram.Observation{o}}, engram.ReadOptions{User: c.user})
		if len(rows) != 1 || len(dropped) > 0 {
			t.Fatalf("%s: %d rows, dropped %q", name, len(rows), dropped)
		}
		m := rows[0].Record.Memory
		must.Equal(t, name+": scope", m.Scope, c.want)
		must.Equal(t, name+": identities", m.Identities, c.ids)
	}
}

func TestIdentityOfAMemory(t *testing.T) {
	t.Parallel()
	const uuid = "01890a5d-ac96-774b-bcce-b302099a8057"
	plain := one(t, note(nil))
	same := func(what string, want bool, edit func(*engram.Observation)) {
		t.Helper()
		must.Equal(t, what+": the same memory", one(t, note(edit)).ID == plain.ID, want)
	}
	same("what a copy of a database changes", true, func(o *engram.Observation) {
		o.ID, o.RevisionCount, o.DuplicateCount, o.LastSeenAt, o.UpdatedAt, o.ToolName = 99, 5, 5, text("2026-02-02 03:04:05"), "2026-02-02 03:04:05", text("Bash")
	})
	same("an empty topic", true, func(o *engram.Observation) { o.TopicKey = text("") })
	same("another text", false, func(o *engram.Observation) { o.Content = "Content." })
	same("another time", false, func(o *engram.Observation) { o.CreatedAt = "2026-01-02 03:04:06" })
	same("fields that run together", false, func(o *engram.Observation) { o.Title, o.Content = "TitleC", "ontent" })
	for name, c := range map[string]struct {
		sync, topic string
		want        amber.MemoryID
	}{
		"topic":                   {"", "Arch  Data", amber.TopicID("shop", amber.ScopeProject, "shop", "arch-data", 0)},
		"topic before sync id":    {"obs-1", "a/b", amber.TopicID("shop", amber.ScopeProject, "shop", "a/b", 0)},
		"topic after erasure":     {string(amber.TopicID("shop", amber.ScopeProject, "shop", "a/b", 3)), "a/b", amber.TopicID("shop", amber.ScopeProject, "shop", "a/b", 3)},
		"topic of a foreign uuid": {uuid, "a/b", amber.TopicID("shop", amber.ScopeProject, "shop", "a/b", 0)},
		"one of Amber's":          {uuid, "", uuid},
		"sync id":                 {"obs-1", "", "ad28ba07-36b4-864c-a330-6c2cd9751ade"},
		"topic too long":          {"obs-1", strings.Repeat("x", 300), "ad28ba07-36b4-864c-a330-6c2cd9751ade"},
	} {
		got := one(t, note(func(o *engram.Observation) { o.SyncID, o.TopicKey = text(c.sync), text(c.topic) })).ID
		must.Equal(t, name+": id", got, c.want)
	}
}

func TestDeletedRowIsATextAndATombstone(t *testing.T) {
	t.Parallel()
	m, rows := records(t, engram.Chunk{Observations: []engram.Observation{note(func(o *engram.Observation) { o.RevisionCount, o.DeletedAt = 3, text(at) })}})
	if len(m) != 2 || !m[0].DeletedAt.IsZero() || m[1].DeletedAt.IsZero() || m[0].ID != m[1].ID {
		t.Fatalf("records are %+v", m)
	}
	if m[0].Origin.Counter != 3 || m[1].Origin.Counter != 4 || !m[1].Origin.After(m[0].Origin) || len(m[1].Saw) != 1 || m[1].Saw[0] != m[0].Origin {
		t.Errorf("origins are %+v and %+v, which saw %+v", m[0].Origin, m[1].Origin, m[1].Saw)
	}
	must.Equal(t, "links: tool", rows[0].Link.Tool, "")
	must.Equal(t, "links: version", rows[1].Link.Version, m[1].Origin)
}

// 1.7.0 inserts what it imports, so one topic may have several rows.
func TestRowsOfOneTopicFollowEachOther(t *testing.T) {
	t.Parallel()
	topic := func(content, updated string, revision int64, deleted *string) engram.Observation {
		return note(func(o *engram.Observation) {
			o.TopicKey, o.Content, o.UpdatedAt, o.RevisionCount, o.DeletedAt = text("a/b"), content, updated, revision, deleted
		})
	}
	for name, c := range map[string]struct {
		rows []engram.Observation
		last string // content of the version that wins; "" for a tombstone
		n    int
	}{
		"later text":                  {[]engram.Observation{topic("b", "2026-01-02 03:04:06", 1, nil), topic("a", at, 1, nil)}, "b", 2},
		"deleted, then written again": {[]engram.Observation{topic("old", at, 5, text("2026-01-02 03:04:07")), topic("new", "2026-01-02 03:04:08", 1, nil)}, "new", 3},
		"a double was deleted":        {[]engram.Observation{topic("live", at, 1, nil), topic("double", at, 1, text("2026-02-02 03:04:07"))}, "live", 3},
		"all deleted":                 {[]engram.Observation{topic("a", at, 1, text(at)), topic("b", at, 1, text(at))}, "", 4},
		"the same row twice":          {[]engram.Observation{topic("a", at, 1, nil), topic("a", at, 1, nil)}, "a", 1},
		"the same deleted row twice":  {[]engram.Observation{topic("a", at, 1, text(at)), topic("a", at, 1, text(at))}, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, rows := records(t, engram.Chunk{Observations: c.rows})
			origins := map[amber.Origin]*amber.SyncMemory{}
			last := all[0]
			for _, m := range all {
				origins[m.Origin] = m
				if m.Origin.After(last.Origin) {
					last = m
				}
			}
			must.Equal(t, "content", last.Content, c.last)
			must.Equal(t, "origins", len(origins), c.n)
			seen := map[amber.Origin]bool{}
			for _, m := range origins {
				for _, o := range m.Saw {
					seen[o] = true
				}
			}
			if len(seen) != c.n-1 || seen[last.Origin] {
				t.Errorf("%d of %d versions were seen, so there is a conflict", len(seen), c.n)
			}
			links := 0
			for _, r := range rows {
				if r.Link.Tool != "" {
					links++
				}
			}
			must.Equal(t, "links", links, len(c.rows))
		})
	}
}

// Versions of one second are in the same order everywhere, in whatever chunk they come.
func TestVersionsOfOneSecondAreToldApart(t *testing.T) {
	t.Parallel()
	a := one(t, note(func(o *engram.Observation) { o.TopicKey, o.Content = text("a"), "one" }))
	b := one(t, note(func(o *engram.Observation) { o.TopicKey, o.Content = text("a"), "two" }))
	if a.ID != b.ID || a.Origin == b.Origin {
		t.Errorf("origins are %+v and %+v", a.Origin, b.Origin)
	}
}

// Engram cuts content in the middle of a character, and U+FFFD is in the chunk.
func TestWhatAmberDoesNotTakeIsKeptBesideTheText(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*engram.Observation){
		"U+FFFD":                  func(o *engram.Observation) { o.Content = "cut \uFFFD... [truncated]" },
		"control characters":      func(o *engram.Observation) { o.Content = "a\x00b\x1b[31m\uFFFDc\u0085" },
		"lines in the title":      func(o *engram.Observation) { o.Title = " two\nlines\t" },
		"control in the title":    func(o *engram.Observation) { o.Title = "a\x00b" },
		"long title":              func(o *engram.Observation) { o.Title = strings.Repeat("ü", 2000) },
		"no title":                func(o *engram.Observation) { o.Title = "" },
		"no content":              func(o *engram.Observation) { o.Content = "" },
		"blank content":           func(o *engram.Observation) { o.Title, o.Content = "a\nb\x01", " \n" },
		"long content":            func(o *engram.Observation) { o.Content = strings.Repeat("x", amber.MaxContentBytes) },
		"project with spaces":     func(o *engram.Observation) { o.Project = text(" shop\t") },
		"empty project":           func(o *engram.Observation) { o.Project = text("") },
		"no session":              func(o *engram.Observation) { o.SessionID = "" },
		"session with a line":     func(o *engram.Observation) { o.SessionID = "a\nb" },
		"unknown type and tool":   func(o *engram.Observation) { o.Type, o.ToolName = "\x01?", text("") },
		"topic Amber changes":     func(o *engram.Observation) { o.TopicKey = text("A B") },
		"topic Amber refuses":     func(o *engram.Observation) { o.TopicKey = text("a\x01b") },
		"counters of no sense":    func(o *engram.Observation) { o.RevisionCount, o.DuplicateCount = -5, 1<<62 },
		"huge revision":           func(o *engram.Observation) { o.RevisionCount = 1 << 62 },
		"times of other spelling": func(o *engram.Observation) { o.CreatedAt, o.UpdatedAt = "2026-01-02T03:04:05.25+01:00", "?" },
		"deleted some time":       func(o *engram.Observation) { o.DeletedAt = text("") },
		"html":                    func(o *engram.Observation) { o.Content = "<a>&\u2028" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := engram.Chunk{
				Sessions:     []engram.Session{{ID: "s\x01 ", Project: "\tp", Directory: "/a\nb", StartedAt: "x", EndedAt: text(""), Summary: text("a\x00\uFFFD")}},
				Observations: []engram.Observation{note(edit)},
				Prompts:      []engram.Prompt{{ID: 3, SessionID: "s\u00a0", Content: "a\x00b\x1b\uFFFD", CreatedAt: "?"}},
			}
			_, rows := records(t, c)
			want, wantText, _ := engram.EncodeChunk(c)
			got, gotText, _ := engram.EncodeChunk(rewrite(t, rows))
			if got != want {
				t.Errorf("rows differ (-want +got):\n%s", cmp.Diff(string(wantText), string(gotText)))
			}
		})
	}
}

func TestRowsWithoutRoomAreReported(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 201)
	rows := func(edits ...func(*engram.Observation)) (out []engram.Observation) {
		for _, e := range edits {
			out = append(out, note(e))
		}
		return out
	}
	c := engram.Chunk{
		Sessions: []engram.Session{
			{ID: "", StartedAt: at},
			{ID: long, StartedAt: at},
			{ID: "s", Summary: text(strings.Repeat("x", amber.MaxSummaryBytes+1))},
			{ID: "fine"},
		},
		Observations: rows(
			func(o *engram.Observation) { o.Title, o.Content = " ", "" },
			func(o *engram.Observation) { o.Content = strings.Repeat("x", amber.MaxContentBytes+1) },
			func(o *engram.Observation) { o.CreatedAt, o.UpdatedAt = "", "0000-00-00" },
			func(o *engram.Observation) { o.Project = &long },
			func(o *engram.Observation) { o.ToolName = text(strings.Repeat("x", 100<<10)) },
			nil,
		),
		Prompts: []engram.Prompt{{SessionID: "s"}, {Content: "c"}, {SessionID: "s", Content: "c"}},
	}
	got, dropped := engram.ToRecords(c, engram.ReadOptions{})
	must.Equal(t, "rows", len(got), 3)
	var places []string
	for _, d := range dropped {
		where, _, _ := strings.Cut(d, ":")
		places = append(places, where)
		if len(d) > 300 {
			t.Errorf("a reason has %d bytes: %.100s", len(d), d)
		}
	}
	want := []string{"session in row 0", "session in row 1", "session in row 2"}
	for n := range 5 {
		want = append(want, fmt.Sprintf("observation in row %d", 4+n))
	}
	want = append(want, "prompt in row 10", "prompt in row 11")
	must.Equal(t, "places of what was dropped", places, want)
}

func TestSessionChangesWhenItEnds(t *testing.T) {
	t.Parallel()
	_, open := records(t, engram.Chunk{Sessions: []engram.Session{{ID: strings.Repeat("ü ", 60), Project: "p", StartedAt: at}}})
	_, ended := records(t, engram.Chunk{Sessions: []engram.Session{{ID: strings.Repeat("ü ", 60), Project: "p", StartedAt: at, EndedAt: text(at)}}})
	o, e := open[0].Record.Session, ended[0].Record.Session
	if open[0].Link.Fingerprint == ended[0].Link.Fingerprint {
		t.Error("a session that has ended has the fingerprint it had before, and would be taken for known")
	}
	if !e.Origin.After(o.Origin) || e.EndReason != amber.EndEnded || !o.EndedAt.IsZero() || o.Binding != "engram" || len([]rune(o.Name)) > amber.MaxNameRunes {
		t.Errorf("sessions are %+v and %+v", o, e)
	}
}
