package engram_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/internal/test/must"
)

// full is a version that has everything a memory can have.
func full(t *testing.T) amber.SyncRecord {
	t.Helper()
	r := mine(func(m *amber.Memory) {
		m.Summary, m.Tags, m.Metadata = "S <b>", []string{"a", "b"}, map[string]string{"k": "<v>"}
		m.SourceRefs = []amber.SourceRef{{Kind: "url", Value: "https://example.org/?a&b"}}
		m.Foreign, m.DuplicateCount = map[string]json.RawMessage{"other": json.RawMessage(`{"x":"\u003cy\u003e"}`)}, 0
		m.SessionID, m.WorkspaceID, m.Trust = "s-1", "w-1", amber.TrustImported
	})
	r.Memory.Saw = []amber.Origin{{Device: "desk", Counter: 2, Clock: r.Memory.Origin.Clock - 1}}
	must.Do(t, r.Check())
	return r
}

// edited is a version of a row of Engram that was changed in Amber.
func edited(t *testing.T) amber.SyncRecord {
	t.Helper()
	m := one(t, note(func(o *engram.Observation) { o.ToolName, o.Title, o.Content = text("Bash"), " two\nlines ", "a \x01 b" }))
	m.Saw = []amber.Origin{m.Origin}
	m.Origin = amber.Origin{Device: "laptop", Counter: 2, Clock: m.Origin.Clock + 1}
	m.Revision, m.Tags, m.UpdatedAt = 2, []string{"new"}, m.UpdatedAt.Add(time.Hour)
	return amber.SyncRecord{Memory: m}
}

func TestARowOfAmberIsTheVersionItWasMadeFrom(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]amber.SyncRecord{
		"own": full(t), "edited": edited(t),
		"no title": mine(func(m *amber.Memory) {
			m.Title, m.DuplicateCount, m.Trust = "", 0, amber.TrustImported
			m.Metadata, m.SourceRefs = map[string]string{}, []amber.SourceRef{}
		}),
	} {
		e := must.Get(engram.FromRecord(want, nil))(t)
		e.Observation.ID = 12
		c := decode(t, encoded(t, e))
		_, rows := records(t, c)
		if diff := cmp.Diff(want.Memory, rows[0].Record.Memory, cmp.AllowUnexported(amber.Time{})); diff != "" || !rows[0].Exact {
			t.Errorf("%s: version differs (-want +got):\n%s", name, diff)
		}
		// Stores number revisions for themselves.
		now := stored(t, want)
		now.Memory.Revision, now.Memory.Saw = 77, nil
		for _, link := range []amber.SyncLink{rows[0].Link, engram.LinkOf(e, want)} {
			again, err := engram.FromRecord(now, &link)
			if err != nil || encoded(t, again) != encoded(t, e) {
				t.Errorf("%s: with its link the row is\n%s, want\n%s, %v", name, encoded(t, again), encoded(t, e), err)
			}
			if strings.Contains(link.Extra, "digest") || strings.Contains(link.Extra, "S <b>") {
				t.Errorf("%s: the link has text: %s", name, link.Extra)
			}
		}
	}
}

func TestAMemberThatIsNotOfItsRowIsNotBelieved(t *testing.T) {
	t.Parallel()
	e := must.Get(engram.FromRecord(full(t), nil))(t)
	whole := encoded(t, e)
	for name, c := range map[string][2]string{
		"the content was edited":  {`"content":"C"`, `"content":"D"`},
		"the title was edited":    {`"title":"T","content"`, `"title":"U","content"`},
		"the type was edited":     {`"type":"policy"`, `"type":"decision"`},
		"a wrong digest":          {`"content_digest":"6b`, `"content_digest":"7b`},
		"another project":         {`"project_id":"shop"`, `"project_id":"other"`},
		"the row of another":      {`"project":"shop"`, `"project":"other"`},
		"another id":              {`"amber":{"id":"01890a5d-ac96-774b-bcce-b302099a8057"`, `"amber":{"id":"01890a5d-ac96-774b-bcce-b302099a8058"`},
		"scope user":              {`"scope":"project","session_id"`, `"scope":"user","session_id"`},
		"scope global":            {`"scope":"project","session_id":"s-1","project_id"`, `"scope":"global","session_id":"s-1","project_id"`},
		"it saw what came later":  {`"counter":2`, `"counter":4`},
		"a counter out of reach":  {`"counter":3`, `"counter":1048577`},
		"a field nobody knows":    {`"revision":9`, `"revision":9,"trust":"own"`},
		"spelled otherwise":       {`"revision":9`, `"Revision":9`},
		"no object":               {`"amber":{`, `"amber":[{`},
		"it was deleted meantime": {`"amber":{`, `"deleted_at":"2026-01-03 00:00:00","amber":{`},
	} {
		forged := strings.Replace(whole, c[0], c[1], 1)
		if forged == whole {
			t.Fatalf("%s: nothing was forged", name)
		}
		if name == "no object" {
			forged = strings.Replace(forged, `}}],"prompts"`, `}]}],"prompts"`, 1)
		}
		_, rows := records(t, decode(t, forged))
		m := rows[0].Record.Memory
		if rows[0].Exact || m.Origin.Device != "engram" || len(m.Tags) > 0 || m.Scope == amber.ScopeUser {
			t.Errorf("%s: it is believed: %+v", name, m)
		}
		if name == "it was deleted meantime" {
			continue
		}
		again := must.Get(engram.FromRecord(stored(t, rows[0].Record), nil))(t)
		must.Equal(t, name+": the row", encoded(t, again), forged)
		// Edited here it has one member, which is believed.
		m.Origin = amber.Origin{Device: "desk", Counter: m.Origin.Counter + 1, Clock: m.Origin.Clock}
		again = must.Get(engram.FromRecord(amber.SyncRecord{Memory: m}, nil))(t)
		if _, ok := again.Version(); !ok || strings.Count(encoded(t, again), `"amber":{"id"`) < 1 {
			t.Errorf("%s: edited it is %s", name, encoded(t, again))
		}
		decode(t, encoded(t, again))
	}
}

func TestASessionOfAmberIsTheVersionItWasMadeFrom(t *testing.T) {
	t.Parallel()
	when := amber.At(time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC))
	want := amber.SyncRecord{Session: &amber.SyncSession{
		Session: amber.Session{
			ID: "s", Name: "Talks", Binding: "cli", Project: "p", StartedAt: when, EndedAt: when, EndReason: amber.EndEnded,
			Summary: "done", Parent: "r", CreatedAt: when, UpdatedAt: when,
		},
		Origin: amber.Origin{Device: "laptop", Counter: 4, Clock: amber.StampAt(when.Time())},
	}}
	e := must.Get(engram.FromRecord(want, nil))(t)
	_, rows := records(t, decode(t, encoded(t, e)))
	if diff := cmp.Diff(want, rows[0].Record, cmp.AllowUnexported(amber.Time{})); diff != "" || !rows[0].Exact {
		t.Errorf("session differs (-want +got):\n%s", diff)
	}
	forged := strings.Replace(encoded(t, e), `"summary":"done"`, `"summary":"more","ended_at":null`, 1)
	forged = strings.Replace(forged, `"ended_at":"2026-01-02 03:04:05",`, "", 1)
	if _, rows = records(t, decode(t, forged)); rows[0].Exact || rows[0].Record.Session.Origin.Device != "engram" {
		t.Errorf("it is believed: %+v", rows[0].Record.Session)
	}
}

// A member that would not fit is left out.
func TestAMemberIsBounded(t *testing.T) {
	t.Parallel()
	r := full(t)
	r.Memory.Foreign["other"] = json.RawMessage(`"` + strings.Repeat("x", 1<<20-100) + `"`)
	e, err := engram.FromRecord(r, nil)
	if err != nil || strings.Contains(encoded(t, e), `"amber"`) {
		t.Errorf("row has %d bytes, %v", len(encoded(t, e)), err)
	}
}
