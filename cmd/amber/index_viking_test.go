//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/care"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

// A user sets an OpenViking server up, and it has what is remembered and nothing else, through edits, erasure,
// an outage and files that another program has changed.
func TestOpenVikingBesideTheStore(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	work := s.path("workspace")
	must.Do(t, os.Mkdir(work, 0o700))
	server := s.viking(ovfake.Options{Workspace: work, Embedder: ovfake.Embedder{Synonyms: map[string]string{"lorry": "truck"}}})
	s.set(vikingVariable("min_score"), "0.65")
	must.Equal(t, "refused without a key", s.exit("index", "sync"), "exit 6")
	made := told[care.Provisioned](s, "index", "provision", "--root-key-file", s.file("root.key", server.RootKey()))
	must.Equal(t, "made", made, care.Provisioned{Account: "default", User: "default", KeyFile: s.path("home", "keys", "openviking", "default", "default"), MadeUser: true, MadeKey: true})
	must.Equal(t, "mode of the key", must.Get(os.Stat(made.KeyFile))(t).Mode().Perm(), 0o600)
	must.Equal(t, "made again", told[care.Provisioned](s, "index", "provision", "--root-key-file", s.path("root.key")).MadeKey, false)
	must.Equal(t, "renewed", told[care.Provisioned](s, "index", "provision", "--root-key-file", s.path("root.key"), "--renew").MadeKey, true)

	id := s.idOf(s.does("--json", "remember", "A truck in the yard."))
	s.does("remember", "Coupons are rounded to cents.")
	s.does("index", "sync")
	status := told[care.IndexReport](s, "index", "status")
	must.Equal(t, "behind", status.OpenViking.Behind, 0)
	must.Equal(t, "verified", told[care.IndexVerdict](s, "index", "verify", "--deep").OpenViking.Files, 2)

	hits := told[amber.RecallResult](s, "recall", "lorry").Hits // another word for it
	must.Hold(t, len(hits) == 1 && string(hits[0].ID) == id && hits[0].Provenance.Backend == "openviking", "hits %+v", hits)

	files := textsIn(t, work, "truck")
	must.Equal(t, "files", len(files), 1)
	must.Do(t, os.WriteFile(files[0], []byte("The truck is mine."), 0o600))
	s.does("edit", id, "A truck in the garage.")
	s.does("index", "sync")
	s.does("index", "verify", "--deep")
	must.Equal(t, "files of the former version", len(textsIn(t, work, "yard")), 0)

	server.Down(true)
	r := told[amber.RecallResult](s, "recall", "coupons")
	must.Hold(t, len(r.Hits) == 1 && strings.Contains(r.Degraded, "OpenViking"), "answer %+v", r)
	s.does("remember", "Written while the server was away.")
	must.Equal(t, "sync while it is away", s.exit("index", "sync"), fmt.Sprint("exit ", amber.KindUnreachable.ExitCode()))
	server.Down(false)
	s.does("index", "sync")
	s.does("index", "verify")

	lost := server.LoseVectors(1)
	said, _, code := s.amber("", "index", "verify")
	must.Equal(t, "exit code where a vector is missing", code, amber.KindDamaged.ExitCode())
	must.Says(t, "what is missing", said, "1 file without a vector", lost[0], "amber index sync")
	said, _, _ = s.amber("", "--json", "index", "verify")
	must.Says(t, "what is missing", said, `"ok": false`, lost[0])
	s.does("index", "sync")
	s.does("index", "verify")

	s.does("forget", id, "--erase", "--yes")
	must.Equal(t, "files of what was erased", len(textsIn(t, work, "truck")), 0)
	s.does("index", "rebuild")
	must.Equal(t, "files after a rebuild", told[care.IndexVerdict](s, "index", "verify", "--deep").OpenViking.Files, 2)
	must.Says(t, "calibration", s.does("index", "calibrate"), "right", "others")
	must.Says(t, "doctor", s.does("doctor"), "openviking", "health, write, find, delete work")
}

// textsIn returns the files below a folder that hold a text.
func textsIn(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), text) {
			found = append(found, path)
		}
		return nil
	}))
	return found
}

// A server feeds what is written.
func TestServerFeedsOpenViking(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	work := s.path("workspace")
	must.Do(t, os.Mkdir(work, 0o700))
	s.viking(ovfake.Options{Mode: ovfake.ModeDev, Workspace: work})
	s.set(vikingVariable("feed_budget"), "0")
	s.does("remember", "Written before the server.")
	s.serve()
	for n, text := range []string{"", "Written beside the server.", "Written after that."} { // each after the one before was fed
		if text != "" {
			s.does("remember", text)
		}
		for range 600 {
			if len(textsIn(t, work, "Written")) == n+1 {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		must.Equal(t, "memories that were fed", len(textsIn(t, work, "Written")), n+1)
	}
}

// The files on the server follow the agent: a restore, another home, private passages, erasure in steps, going
// back, the end of the agent.
func TestOpenVikingFollowsTheAgent(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	work := s.path("workspace")
	must.Do(t, os.Mkdir(work, 0o700))
	server := s.viking(ovfake.Options{Mode: ovfake.ModeDev, Workspace: work})

	id := s.idOf(s.does("--json", "remember", "The first version of a plan."))
	s.does("index", "sync")
	snapshot := s.snapshot()
	s.does("edit", id, "The second version of a plan.")
	s.does("index", "sync")
	s.does("snapshot", "restore", snapshot, "--yes")
	s.does("index", "sync")
	must.Equal(t, "files of what a restore has undone", len(textsIn(t, work, "second version")), 0)
	s.does("index", "verify", "--deep")

	s.set("AMBER_EXPORT__REDACT", "false")
	s.does("remember", "A plan with <private>the name of a friend</private> in it.")
	s.does("index", "sync")
	must.Equal(t, "files with a private passage", len(textsIn(t, work, "friend")), 0)

	s.does("forget", id)
	s.does("index", "sync")
	must.Says(t, "what stays after the file is gone", s.does("--json", "forget", id, "--erase", "--yes"), "vector store of OpenViking keeps the text")

	other := s.idOf(s.does("--json", "remember", "Another plan."))
	s.does("index", "sync")
	s.set("AMBER_MEMORY__BACKEND", "sqlite")
	must.Says(t, "what stays after the server was given up", s.does("--json", "forget", other, "--erase", "--yes"), "OpenViking server that was fed")
	s.set("AMBER_MEMORY__BACKEND", "openviking")

	_, complaint, code := s.amber("", "agent", "delete", "default", "--yes")
	must.Equal(t, "exit code", code, 0)
	must.Says(t, "what the agent leaves", complaint, server.Start())
}

// Sessions and turns may be on SQLite alone: it is the primary, so everything goes on.
func TestOpenVikingBesideOneLayer(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	s.viking(ovfake.Options{Mode: ovfake.ModeDev})
	s.set("AMBER_MEMORY__BACKEND", "sqlite")
	s.set("AMBER_MEMORY__LAYERS__LONG_TERM__BACKEND", "openviking")
	event := `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"why do the tests fail?"}`
	if _, complaint, code := s.amber(event, "hook", "claude-code", "--no-drain", "--timeout", "1m", "--context-timeout", "0"); code != 0 {
		t.Fatal(code, complaint)
	}
	s.does("journal", "drain")
	must.Says(t, "turns", s.does("session", "show", "s1"), "why do the tests fail?")
	s.does("remember", "x")
	s.does("index", "sync")
}

// A server that does not answer costs a question the budget once, and the next process nothing.
func TestOpenVikingThatHangs(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	server := s.viking(ovfake.Options{Mode: ovfake.ModeDev})
	s.does("remember", "Coupons are rounded to cents.")
	s.does("index", "sync")
	s.does("remember", "A new one.")
	server.Slow(time.Minute)
	for range 3 {
		r := told[amber.RecallResult](s, "recall", "coupons")
		must.Hold(t, len(r.Hits) == 1 && strings.Contains(r.Degraded, "OpenViking was not asked"), "answer %+v", r)
	}
	server.Slow(0)
}

// With keys it is known whose files they are, so a server that hangs costs the next process nothing.
func TestOpenVikingThatHangsIsAskedOnce(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	s.now = time.Now() // it stands still: the next attempt is never due
	server := s.viking(ovfake.Options{})
	s.does("index", "provision", "--root-key-file", s.file("root.key", server.RootKey()))
	s.does("remember", "Coupons are rounded to cents.")
	s.does("index", "sync")
	s.does("remember", "A new one.")
	server.Slow(time.Minute)
	defer server.Slow(0)
	s.does("recall", "coupons")
	asked := server.Calls("health") + server.Calls("find") + server.Calls("batch-write")
	r := told[amber.RecallResult](s, "recall", "coupons")
	must.Hold(t, len(r.Hits) == 1 && strings.Contains(r.Degraded, "OpenViking was not asked"), "answer %+v", r)
	must.Equal(t, "calls of the second process", server.Calls("health")+server.Calls("find")+server.Calls("batch-write")-asked, 0)
}
