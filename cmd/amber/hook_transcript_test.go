package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestTurnsThatOnlyATranscriptTells: a turn of Droid is whole whether or not
// there was an event for the prompt, and the prompt is stored once.
func TestTurnsThatOnlyATranscriptTells(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]bool{"droid exec": false, "in a terminal": true} {
		u := newUser(t)
		dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
		path := filepath.Join(dir, ".factory", "sessions", "-src", "s1.jsonl")
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		lines := `{"type":"message","id":"u1","message":{"role":"user","content":[{"type":"text","text":"Fix the build."}]}}
{"type":"message","id":"a1","message":{"role":"assistant","content":[{"type":"text","text":"Fixed."}]}}
`
		must.Do(t, os.WriteFile(path, []byte(lines), 0o644))
		said := func(payload map[string]string) {
			payload["session_id"], payload["transcript_path"] = "s1", path
			b := must.Get(json.Marshal(payload))(t)
			cmd := exec.Command("amber", "hook", "droid", "--no-drain", "--home", u.home)
			cmd.Env = append(os.Environ(), "HOME="+dir, "USERPROFILE="+dir)
			cmd.Stdin = strings.NewReader(string(b))
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Fatalf("%s, %v", out, err)
			}
		}
		if told {
			said(map[string]string{"hook_event_name": "UserPromptSubmit", "message_id": "u1", "prompt": "Fix the build."})
		}
		said(map[string]string{"hook_event_name": "Stop", "message_id": "a1"})
		u.must("", "journal", "drain")
		var turns struct{ Items []amber.Turn }
		must.Do(t, json.Unmarshal([]byte(u.must("", "turn", "list", "--session", "s1", "--json")), &turns))
		if len(turns.Items) != 2 || turns.Items[0].Content != "Fix the build." || turns.Items[1].Content != "Fixed." {
			t.Errorf("%s: %+v", name, turns.Items)
		}
	}
}
