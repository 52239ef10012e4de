package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// user is a person with a home of their own who runs the program.
type user struct {
	t    testing.TB
	home string
	env  []string // beside that of the tests
}

func newUser(t testing.TB) *user {
	t.Helper()
	u := &user{t: t, home: filepath.Join(t.TempDir(), "home")}
	t.Cleanup(u.settle)
	return u
}

// settle waits until no process drains in the background.
func (u *user) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	lock, err := fsx.AcquireLock(ctx, filepath.Join(u.spool(), "background.lock"), fsx.Exclusive)
	switch {
	case err == nil:
		_ = lock.Unlock()
	case !errors.Is(err, os.ErrNotExist):
		u.t.Errorf("the background drain does not end: %v", err)
	}
}

func (u *user) spool() string {
	return filepath.Join(u.home, "tenants", "default", "agents", "default", "spool")
}

func (u *user) environ() []string {
	return append(append(os.Environ(), "AMBER_HOME="+u.home, "XDG_CONFIG_HOME="+filepath.Dir(u.home)), u.env...)
}

// amber runs the program in the process of the test and returns what it printed and its exit code.
func (u *user) amber(stdin string, args ...string) (stdout, stderr string, code int) {
	u.t.Helper()
	w := testWorld(filepath.Dir(u.home), u.environ()...)
	w.Stdin = strings.NewReader(stdin)
	r := runIn(context.WithoutCancel(u.t.Context()), u.t, w, args...)
	return r.stdout, r.stderr, r.code
}

// asProcess is amber in a process of its own: for hooks that leave a drain behind, and where processes meet.
func (u *user) asProcess(stdin string, args ...string) (stdout, stderr string, code int) {
	u.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command("amber", args...)
	cmd.Env = u.environ()
	cmd.Dir = filepath.Dir(u.home)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		u.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// must runs the program in the process of the test and expects it to succeed.
func (u *user) must(stdin string, args ...string) string {
	u.t.Helper()
	out, errs, code := u.amber(stdin, args...)
	if code != 0 {
		u.t.Fatalf("amber %s: exit %d\n%s", strings.Join(args, " "), code, errs)
	}
	return out
}

// journal opens the journal of the home.
func (u *user) journal() *journal.Journal {
	u.t.Helper()
	j := must.Get(journal.Open(u.spool(), journal.Options{Clock: time.Now}))(u.t)
	return j
}

// entries returns the events in the journal, by session.
func (u *user) entries() map[string][]journal.HostEvent {
	u.t.Helper()
	j := u.journal()
	keys := must.Get(j.Keys())(u.t)
	all := map[string][]journal.HostEvent{}
	for _, k := range keys {
		next := int64(1)
		damage, err := j.Read(context.Background(), k, 0, func(f journal.Frame) error {
			var ev journal.HostEvent
			if err := json.Unmarshal(f.Payload, &ev); err != nil {
				return err
			}
			if f.Seq != next {
				u.t.Errorf("sequence %d, want %d", f.Seq, next)
			}
			next++
			all[string(ev.SessionID)] = append(all[string(ev.SessionID)], ev)
			return nil
		})
		if err != nil || damage.Any() {
			u.t.Fatalf("%+v, %v", damage, err)
		}
	}
	return all
}

// TestRecordedPayloads hands every recorded payload of every host to the
// program, with memories there to inject, and drains them.
func TestRecordedPayloads(t *testing.T) {
	t.Parallel()
	for _, host := range hook.Hosts() {
		t.Run(string(host), func(t *testing.T) {
			t.Parallel()
			files, err := filepath.Glob(filepath.Join("..", "..", "internal", "capture", "hook", "testdata", string(host), "*.json"))
			if err != nil || len(files) < 3 {
				t.Fatalf("%d payloads, %v", len(files), err)
			}
			u := newUser(t)
			u.must("", "remember", "--scope", "global", "The build needs Go 1.26 and the tests need git")
			injected := 0
			for _, file := range files {
				payload := must.Get(os.ReadFile(file))(t)
				out, errs, code := u.amber(string(payload), "hook", string(host), "--no-drain", "--timeout", "1m", "--context-timeout", "1m")
				if code != 0 || errs != "" {
					t.Errorf("%s: exit %d, %s", file, code, errs)
				}
				if out != "" { // which form a host takes is known where replies are made
					injected++
					must.Says(t, file, out, "Go 1.26")
				}
			}
			must.Equal(t, "some answers have context", injected > 0, host != hook.Generic)
			kept := 0
			for _, events := range u.entries() {
				kept += len(events)
			}
			if kept != len(files)+injected { // what was put before the agent is an event, too
				t.Errorf("%d payloads, %d answers with context, %d events", len(files), injected, kept)
			}
			var report struct {
				Applied, Duplicates, Quarantined int
				Failed                           map[string]string
			}
			must.Do(t, json.Unmarshal([]byte(u.must("", "journal", "drain", "--json")), &report))
			if report.Applied+report.Duplicates != kept || report.Quarantined > 0 || len(report.Failed) > 0 {
				t.Errorf("%d events, drained: %+v", kept, report)
			}
		})
	}
}

// TestHookAlwaysExitsWithZero has everything that can go wrong go wrong. A
// host takes 2, and some of them anything but 0, for an order.
func TestHookAlwaysExitsWithZero(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, []byte("x"), 0o600))
	broken := filepath.Join(t.TempDir(), "config.yaml")
	must.Do(t, os.WriteFile(broken, []byte("memory: [no"), 0o600))
	const hello = `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"hello"}`
	for _, tt := range []struct {
		name, stdin string
		args        []string
		kept        int
		says        string
	}{
		{"a good event", hello, []string{"hook", "claude-code"}, 1, ""},
		{"nothing", "", []string{"hook", "claude-code", "--event", "Stop"}, 1, ""},
		{"no JSON", "{{{", []string{"hook", "claude-code"}, 1, ""},
		{"half of it", hello[:40], []string{"hook", "claude-code"}, 1, ""},
		{"not UTF-8", "{\"session_id\":\"s1\",\"prompt\":\"\xff\xfe\"}", []string{"hook", "claude-code", "--event", "UserPromptSubmit"}, 1, ""},
		{"an argument", "", []string{"hook", "codex", `{"type":"agent-turn-complete","thread-id":"t1","turn-id":"1","cwd":"/","input-messages":["hi"],"last-assistant-message":"ho"}`}, 1, ""},
		{"a hostile session id", `{"session_id":"../../../etc/passwd\u0000","prompt":"x"}`, []string{"hook", "claude-code", "--event", "UserPromptSubmit"}, 1, ""},
		{"a broken configuration", hello, []string{"hook", "claude-code", "--config", broken}, 1, "went on with the defaults"},
		{"no host", hello, []string{"hook"}, 0, "hook needs HOST"},
		{"an unknown host", hello, []string{"hook", "toaster"}, 0, "toaster"},
		{"an unknown flag", hello, []string{"hook", "claude-code", "--frobnicate"}, 0, "frobnicate"},
		{"an unknown flag before", hello, []string{"--frobnicate", "hook", "claude-code"}, 0, "frobnicate"},
		{"too many arguments", hello, []string{"hook", "claude-code", "{}", "{}"}, 0, "does not take"},
		{"no agent", hello, []string{"hook", "claude-code", "--agent", "../x"}, 0, "agent id"},
		{"a file for a home", hello, []string{"hook", "claude-code", "--home", file}, 0, "not"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			args := tt.args
			if slices.Contains(args, "claude-code") || slices.Contains(args, "codex") {
				args = append(slices.Clone(args), "--no-drain", "--timeout", "1m")
			}
			out, errs, code := u.asProcess(tt.stdin, args...)
			if code != 0 || out != "" {
				t.Errorf("exit %d, stdout %q", code, out)
			}
			if (tt.says == "") != (errs == "") || !strings.Contains(errs, tt.says) {
				t.Errorf("stderr %q, want %q", errs, tt.says)
			}
			kept := 0
			for _, events := range u.entries() {
				kept += len(events)
			}
			if kept != tt.kept {
				t.Errorf("%d events were kept, want %d", kept, tt.kept)
			}
		})
	}
}

// TestAPanicInAHookIsNoOrder panics in the middle of a hook.
func TestAPanicInAHookIsNoOrder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "home")
	var errs bytes.Buffer
	w := process()
	w.Stdout, w.Stderr = io.Discard, &errs
	w.Environ = []string{"AMBER_HOME=" + dir}
	w.Directory = func() (string, error) { panic("boom") }
	if code := run(context.Background(), []string{"hook", "claude-code", "--no-drain", "{}"}, w); code != 0 {
		t.Errorf("exit %d", code)
	}
	if !strings.Contains(errs.String(), "boom") {
		t.Errorf("stderr %q", errs.String())
	}
	j := must.Get(journal.Open(filepath.Join(dir, "tenants", "default", "agents", "default", "spool"), journal.Options{Clock: time.Now}))(t)
	if l, err := j.Losses(); err != nil || l.Count != 1 {
		t.Errorf("losses %+v, %v", l, err)
	}
}

// TestAHostThatDoesNotClose keeps its end of the pipe open.
func TestAHostThatDoesNotClose(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	cmd := exec.Command("amber", "hook", "claude-code", "--no-drain", "--home", u.home)
	in := must.Get(cmd.StdinPipe())(t)
	defer in.Close()
	must.Do(t, cmd.Start())
	must.Get(io.WriteString(in, `{"session_id":"s1","hook_event_name":"Stop"`))(t)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if got := u.entries(); len(got["s1"]) != 1 {
		t.Errorf("kept %v", got)
	}
}

// twoHundred runs 200 hooks as processes of their own, 40 at a time: each reports the use of a tool by an id of its own in
// the session s1.
func (u *user) twoHundred(flags ...string) (ids []string) {
	u.t.Helper()
	const processes, atOnce = 200, 40
	places := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i := range processes {
		id := fmt.Sprintf("t%03d", i)
		ids = append(ids, id)
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			in := fmt.Sprintf(`{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":%q,"tool_input":{"command":"true"}}`, id)
			if _, errs, code := u.asProcess(in, append([]string{"hook", "claude-code", "--timeout", "1m"}, flags...)...); code != 0 || errs != "" {
				u.t.Errorf("hook %s: exit %d, %s", id, code, errs)
			}
		})
	}
	wg.Wait()
	return ids
}

// TestTwoHundredHooks has 200 processes keep one event each in one session, and drain them.
func TestTwoHundredHooks(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ids := u.twoHundred()
	u.settle()
	u.must("", "journal", "drain")
	var done amber.Page[amber.Activity]
	must.Do(t, json.Unmarshal([]byte(u.must("", "session", "activity", "s1", "--kind", "tool", "--json")), &done))
	if len(done.Items) != 1 || done.Items[0].Count != int64(len(ids)) {
		t.Errorf("%+v", done.Items)
	}
	var status struct {
		Sessions []wire.JournalStatus
	}
	must.Do(t, json.Unmarshal([]byte(u.must("", "journal", "status", "--json")), &status))
	if s := status.Sessions; len(s) != 1 || s[0].Undrained != 0 || s[0].Damaged != 0 || s[0].Gaps != 0 || s[0].Quarantined != 0 {
		t.Errorf("%+v", status)
	}
}

// TestTwoHundredFrames is the same while no process drains: 200 intact frames in sequence.
func TestTwoHundredFrames(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	want := u.twoHundred("--no-drain")
	var got []string
	for _, ev := range u.entries()["s1"] {
		got = append(got, ev.ToolUseID)
	}
	slices.Sort(got)
	must.Equal(t, "events", got, want)
}

// TestSecretsDoNotReachTheDisk looks for a key in every byte below the home.
func TestSecretsDoNotReachTheDisk(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	key := "ghp_" + strings.Repeat("a1B2", 9)
	in := fmt.Sprintf(`{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t1",`+
		`"tool_input":{"command":"curl -H 'Authorization: Bearer %s' x"},"tool_response":{"stdout":"GITHUB_TOKEN=%s\n","%s":1}}`, key, key, key)
	u.must(in, "hook", "claude-code", "--no-drain")
	u.must("", "journal", "drain")
	err := filepath.WalkDir(u.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(key)) {
			t.Errorf("the key is in %s", path)
		}
		return err
	})
	must.Do(t, err)
}
