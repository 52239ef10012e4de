package engram_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestRedactedChangesTextAndNothingElse(t *testing.T) {
	t.Parallel()
	replace := func(row []byte) []byte { return bytes.ReplaceAll(row, []byte("secret"), []byte("[x]")) }
	session := engram.Session{ID: "s", Project: "shop", Directory: "/secret", StartedAt: at, Summary: text("a secret")}
	prompt := engram.Prompt{ID: 3, SyncID: text("p"), SessionID: "s", Content: "secret?", CreatedAt: at}
	for _, tt := range []struct {
		name   string
		row    engram.Entity
		redact func([]byte) []byte
		want   string // "": there is no such row
	}{
		{"nothing", entity(note(nil)), replace, string(entity(note(nil)).JSON())},
		{"an observation", entity(note(func(o *engram.Observation) {
			o.Type, o.Title, o.Content, o.ToolName = "secret", "a secret", "secrets", text("secret")
		})), replace, string(entity(note(func(o *engram.Observation) {
			o.Type, o.Title, o.Content, o.ToolName = "[x]", "a [x]", "[x]s", text("[x]")
		})).JSON())},
		{"a session", engram.Entity{Session: &session}, replace, `{"id":"s","project":"shop","directory":"/[x]","started_at":"` + at + `","summary":"a [x]"}`},
		{"a prompt", engram.Entity{Prompt: &prompt}, replace, `{"id":3,"sync_id":"p","session_id":"s","content":"[x]?","created_at":"` + at + `"}`},
		{"the name of a row", entity(note(func(o *engram.Observation) { o.SyncID = text("secret") })), replace, ""},
		{"the session of a row", entity(note(func(o *engram.Observation) { o.SessionID = "secret" })), replace, ""},
		{"the topic of a row", entity(note(func(o *engram.Observation) { o.TopicKey = text("secret") })), replace, ""},
		{"what is no row any more", entity(note(func(o *engram.Observation) { o.Title = "secret" })), func([]byte) []byte { return []byte("null") }, ""},
		{"what grows without end", entity(note(nil)), func(row []byte) []byte { return bytes.Replace(row, []byte(`tent"`), []byte(`xtent"`), 2) }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before := string(tt.row.JSON())
			got, ok := tt.row.Redacted(tt.redact)
			must.Equal(t, "ok", ok, tt.want != "")
			if d := cmp.Diff(tt.want, string(got.JSON())); ok && d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			must.Equal(t, "the row that was given", string(tt.row.JSON()), before)
		})
	}
}

func entity(o engram.Observation) engram.Entity { return engram.Entity{Observation: &o} }
