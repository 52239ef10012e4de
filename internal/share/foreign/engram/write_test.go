package engram_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/internal/test/must"
)

// mine is a memory that was written in Amber.
func mine(edit func(*amber.Memory)) amber.SyncRecord {
	when := amber.At(time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC))
	m := amber.Memory{
		ID: "01890a5d-ac96-774b-bcce-b302099a8057", Kind: amber.Constraint, Scope: amber.ScopeProject,
		Identities: amber.Identities{ProjectID: "shop"}, Title: "T", Content: "C", Tags: []string{"x"}, Trust: amber.TrustOwn,
		Origin: amber.Origin{Device: "laptop", Counter: 3, Clock: amber.StampAt(when.Time())}, Revision: 9,
		ContentDigest: amber.ContentDigest("C"), CreatedAt: when, UpdatedAt: when.Add(time.Minute), DuplicateCount: 1,
	}
	if edit != nil {
		edit(&m)
	}
	return amber.SyncRecord{Memory: &amber.SyncMemory{Memory: m}}
}

func encoded(t testing.TB, e engram.Entity) string {
	t.Helper()
	var c engram.Chunk
	c.Add(e)
	return string(engram.Text(c))
}

func TestOwnMemoryBecomesARow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*amber.Memory)
		want string
	}{
		"project": {nil, `{"id":0,"sync_id":"01890a5d-ac96-774b-bcce-b302099a8057","session_id":"amber-shop","type":"policy","title":"T","content":"C","project":"shop","scope":"project","revision_count":3,"duplicate_count":2,"last_seen_at":"2026-01-02 03:05:05","created_at":"2026-01-02 03:04:05","updated_at":"2026-01-02 03:05:05","amber":{"id":"01890a5d-ac96-774b-bcce-b302099a8057","kind":"constraint","scope":"project","project_id":"shop","title":"T","tags":["x"],"origin":{"device":"laptop","counter":3,"clock":"2026-01-02T03:04:05.678Z-0000"},"revision":9,"content_digest":"6b23c0d5f35d1b11f9b683f0b0a617355deb11277d91ae091d399c655b87940d","created_at":"2026-01-02T03:04:05.678Z","updated_at":"2026-01-02T03:05:05.678Z"}}`},
		"global with a topic": {func(m *amber.Memory) {
			m.Scope, m.ProjectID, m.SessionID, m.Topic, m.Title, m.Content = amber.ScopeGlobal, "", "s", "a/b", "", "first\nsecond"
		}, `{"id":0,"sync_id":"01890a5d-ac96-774b-bcce-b302099a8057","session_id":"s","type":"policy","title":"first","content":"first\nsecond","scope":"global","topic_key":"a/b","revision_count":3,"duplicate_count":2,"last_seen_at":"2026-01-02 03:05:05","created_at":"2026-01-02 03:04:05","updated_at":"2026-01-02 03:05:05","amber":{"id":"01890a5d-ac96-774b-bcce-b302099a8057","kind":"constraint","scope":"global","session_id":"s","topic":"a/b","tags":["x"],"origin":{"device":"laptop","counter":3,"clock":"2026-01-02T03:04:05.678Z-0000"},"revision":9,"content_digest":"6b23c0d5f35d1b11f9b683f0b0a617355deb11277d91ae091d399c655b87940d","created_at":"2026-01-02T03:04:05.678Z","updated_at":"2026-01-02T03:05:05.678Z"}}`},
	} {
		e := must.Get(engram.FromRecord(mine(c.edit), nil))(t)
		must.Equal(t, name+": row", encoded(t, e), `{"sessions":null,"observations":[`+c.want+`],"prompts":null}`)
	}
}

// Two Ambers that meet in a folder of Engram mean the same memory, and it is still of the same kind and scope.
func TestOwnMemoryComesBackAsItself(t *testing.T) {
	t.Parallel()
	for _, kind := range amber.MemoryKinds() {
		for _, scope := range []amber.Scope{amber.ScopeProject, amber.ScopeGlobal} {
			rec := mine(func(m *amber.Memory) { m.Kind, m.Scope = kind, scope })
			e := must.Get(engram.FromRecord(rec, nil))(t)
			got := one(t, *e.Observation)
			if got.ID != rec.Memory.ID || got.Kind != kind || got.Scope != scope || got.Content != "C" || got.ProjectID != "shop" {
				t.Errorf("%s, %s came back as %+v", kind, scope, got)
			}
			link := engram.LinkOf(e, rec)
			must.Equal(t, "with its link the row", encoded(t, must.Get(engram.FromRecord(rec, &link))(t)), encoded(t, e))
		}
	}
}

func TestPrivateMemoriesStayHere(t *testing.T) {
	t.Parallel()
	for _, scope := range []amber.Scope{amber.ScopeUser, amber.ScopeSession, amber.ScopeWorkspace} {
		must.Fail(engram.FromRecord(mine(func(m *amber.Memory) { m.Scope = scope }), nil))(t, string(scope), amber.KindRefused)
	}
	// A memory that came from Engram for one person does not leave either, unless for the chunk that it came from.
	rows, _ := engram.ToRecords(chunksOf(t, "unicode")[0], engram.ReadOptions{User: "dev-a"})
	personal := rows[2]
	must.Fail(engram.FromRecord(personal.Record, nil))(t, "", amber.KindRefused)
	must.Equal(t, "scope", must.Get(engram.FromRecord(personal.Record, &personal.Link))(t).Observation.Scope, "personal")
}

func TestWhatIsNoRowIsRefused(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]amber.SyncRecord{
		"tombstone": mine(func(m *amber.Memory) { m.DeletedAt = m.UpdatedAt }),
		"erased":    {Erased: &amber.SyncErased{}},
		"nothing":   {},
	} {
		must.Fail(engram.FromRecord(r, nil))(t, name, amber.KindUnsupported)
	}
}

func TestEditedRowKeepsWhatEngramKnew(t *testing.T) {
	t.Parallel()
	o := note(func(o *engram.Observation) {
		o.TopicKey, o.ToolName, o.DuplicateCount, o.ReviewAfter = text("A B"), text("Bash"), 4, text(later)
	})
	m := one(t, o)
	m.Content, m.UpdatedAt = "edited", m.UpdatedAt.Add(time.Hour)
	m.Origin = amber.Origin{Device: "laptop", Counter: 2}
	e := must.Get(engram.FromRecord(amber.SyncRecord{Memory: m}, nil))(t)
	o.Content, o.RevisionCount, o.UpdatedAt, o.LastSeenAt = "edited", 2, "2026-01-02 04:04:05", text("2026-01-02 04:04:05")
	row, member, ok := strings.Cut(encoded(t, e), `,"amber":{`)
	_, rest, _ := strings.Cut(member, "}]")
	if row += "}]" + rest; !ok {
		t.Error("it does not say which version it is")
	}
	must.Equal(t, "row", row, encoded(t, engram.Entity{Observation: &o}))
	m.Kind = amber.HistoricalCase
	e = must.Get(engram.FromRecord(amber.SyncRecord{Memory: m}, nil))(t)
	must.Equal(t, "type", e.Observation.Type, "bugfix")
}

// A link to another version of the memory must not mix two rows.
func TestLinkOfAnotherVersionIsNotUsed(t *testing.T) {
	t.Parallel()
	topic := func(content, when string) engram.Observation {
		return note(func(o *engram.Observation) { o.TopicKey, o.Content, o.UpdatedAt = text("a"), content, when })
	}
	_, rows := records(t, engram.Chunk{Observations: []engram.Observation{topic("one", at), topic("two", later)}})
	e := must.Get(engram.FromRecord(rows[1].Record, &rows[0].Link))(t)
	must.Equal(t, "row: content", e.Observation.Content, "two")
	must.Equal(t, "row: updated at", e.Observation.UpdatedAt, later)
}

// The field "engram" of a memory may come from anybody.
func TestForgedFieldsDoNotSpoilAChunk(t *testing.T) {
	t.Parallel()
	for name, forged := range map[string]string{
		"not JSON of ours":   `[1]`,
		"half a member":      `{"scope":"project","project":"shop","extra":"\"a\":"}`,
		"a second content":   `{"scope":"project","project":"shop","extra":"\"content\":\"x\""}`,
		"breaks out":         `{"scope":"project","project":"shop","extra":"\"a\":1},{\"id\":2"}`,
		"a wider scope":      `{"scope":"global","project":"shop"}`,
		"another project":    `{"scope":"project","project":"other"}`,
		"personal":           `{"scope":"personal","project":"shop"}`,
		"a link of no sense": `{"scope":"project"}`,
	} {
		rec := mine(func(m *amber.Memory) { m.Foreign = map[string]json.RawMessage{"engram": json.RawMessage(forged)} })
		e := must.Get(engram.FromRecord(rec, &amber.SyncLink{Tool: "engram", Version: rec.Memory.Origin, Extra: forged}))(t)
		if e.Observation.SyncID == nil || *e.Observation.SyncID != string(rec.Memory.ID) || *e.Observation.Project != "shop" {
			t.Errorf("%s: row is %s", name, encoded(t, e))
		}
		decode(t, encoded(t, e))
	}
}

// A reader of the deletion deletes the memory that the row was, with a topic or without.
func TestDeletionNamesTheMemory(t *testing.T) {
	t.Parallel()
	for _, topic := range []string{"", "a/b"} {
		rec := mine(func(m *amber.Memory) {
			if m.Topic = topic; topic != "" {
				m.ID = amber.TopicID("shop", amber.ScopeProject, "shop", topic, 0)
			}
		})
		e := must.Get(engram.FromRecord(rec, nil))(t)
		d, ok := engram.Deletion(rec, engram.LinkOf(e, rec))
		if !ok {
			t.Fatal("it cannot be told")
		}
		gone, _ := records(t, engram.Chunk{Mutations: []engram.Mutation{d}})
		if len(gone) != 1 || gone[0].ID != rec.Memory.ID || gone[0].DeletedAt.IsZero() || !gone[0].Origin.After(rec.Memory.Origin) || gone[0].ProjectID != "shop" {
			t.Errorf("topic %q: the deletion is %+v", topic, gone)
		}
	}
	_, rows := records(t, chunksOf(t, "basic")[0])
	if _, ok := engram.Deletion(rows[1].Record, rows[1].Link); ok {
		t.Error("a row of 1.7.0 has no name to tell its deletion by")
	}
}

func TestSessionAndPromptOfAmberBecomeRows(t *testing.T) {
	t.Parallel()
	when := amber.At(time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC))
	s, err := engram.FromRecord(amber.SyncRecord{Session: &amber.SyncSession{Session: amber.Session{ID: "s", Project: "p", StartedAt: when, EndedAt: when, Summary: "done"}, Origin: amber.Origin{Device: "engram"}}}, nil)
	must.Do(t, err)
	p, err := engram.FromRecord(amber.SyncRecord{Prompt: &amber.Turn{ID: "t-1", SessionID: "s", Content: "why?", CreatedAt: when}}, nil)
	must.Do(t, err)
	var c engram.Chunk
	c.Add(s)
	c.Add(p)
	_, got, _ := engram.EncodeChunk(c)
	want := `{"sessions":[{"id":"s","project":"p","directory":".","started_at":"2026-01-02 03:04:05","ended_at":"2026-01-02 03:04:05","summary":"done"}],"observations":null,"prompts":[{"id":0,"sync_id":"t-1","session_id":"s","content":"why?","created_at":"2026-01-02 03:04:05"}]}`
	must.Equal(t, "rows", string(got), want)
}

func TestManualSessionIsThatOfTheRow(t *testing.T) {
	t.Parallel()
	for _, project := range []string{"", "shop", strings.Repeat("x", 200)} {
		e := must.Get(engram.FromRecord(mine(func(m *amber.Memory) { m.Scope, m.ProjectID = amber.ScopeGlobal, project }), nil))(t)
		s := engram.ManualSession(project, amber.Time{})
		if s.ID != e.Observation.SessionID || s.Directory == "" || len(s.ID) > amber.MaxIDBytes {
			t.Errorf("session is %+v, want that of %s", s, e.Observation.SessionID)
		}
		records(t, engram.Chunk{Sessions: []engram.Session{s}})
	}
}
