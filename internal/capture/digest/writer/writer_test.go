//go:build unix

package writer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/digest"
	"github.com/amber-memory/amber/internal/capture/digest/writer"
	"github.com/amber-memory/amber/internal/test/must"
)

func session() digest.Session {
	return digest.Session{
		ID: "s", Host: "h", Project: "acme/shop",
		Turns: []amber.Turn{
			{ID: "aaaa", Role: amber.RoleUser, Content: "Always use tabs."},
			{ID: "tool", Role: amber.RoleTool, Content: "POISON"},
			{ID: "theirs", Role: amber.RoleUser, Trust: amber.TrustImported, Content: "POISON"},
			{ID: "bbbb", Role: amber.RoleAssistant, Content: "Yes."},
		},
		Activity: []amber.Activity{{Kind: amber.ActivityCommand, Name: "make", Count: 2, Failed: 1, Detail: "POISON"}, {Kind: amber.ActivityFile, Name: "Makefile", Status: "modified"}},
	}
}

// program makes a shell script.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "digest.sh")
	syscall.ForkLock.RLock() // a child of another test would hold the file open for writing, and it could not be run
	defer syscall.ForkLock.RUnlock()
	must.Do(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	return path
}

func TestNoWriter(t *testing.T) {
	t.Parallel()
	if w := writer.New(writer.Options{Timeout: time.Second}); w != nil {
		t.Errorf("%v", w)
	}
}

// A program gets the session, without what tools printed, and its answer is read.
func TestCommand(t *testing.T) {
	t.Parallel()
	seen := filepath.Join(t.TempDir(), "seen")
	w := writer.New(writer.Options{Command: program(t, `cat > `+seen+`; echo '{"items":[{"kind":"preference","text":"Tabs.","turns":["aaaa"]}]}'`), Timeout: time.Minute})
	must.Equal(t, "label", w.Label(), "command")
	items := must.Get(w.Write(context.Background(), session()))(t)
	must.Equal(t, "items", items, []digest.Item{{Kind: digest.Preference, Text: "Tabs.", Turns: []amber.TurnID{"aaaa"}}})
	got := string(must.Get(os.ReadFile(seen))(t))
	for _, want := range []string{`"turns":[{"id":"aaaa","role":"user","text":"Always use tabs."},{"id":"bbbb"`, `"line":"make","count":2,"failed":1`, `"files":["Makefile"]`} {
		if !strings.Contains(got, want) || strings.Contains(got, "POISON") {
			t.Errorf("%s is not in, or POISON is:\n%s", want, got)
		}
	}
}

func TestCommandsThatFail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		kind   amber.Kind
	}{
		"exit":    {"exit 3", amber.KindUnreachable},
		"no JSON": {"echo hello", amber.KindInvalid},
		"endless": {"yes", amber.KindInvalid},
		"sleeps":  {"exec sleep 600", amber.KindUnreachable},
		"a child": {"sleep 20 & exec sleep 600", amber.KindUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := writer.Options{Command: program(t, c.script), Timeout: time.Minute}
			if strings.Contains(c.script, "sleep") {
				o.Timeout = 50 * time.Millisecond
			}
			_, err := writer.New(o).Write(context.Background(), session())
			must.Equal(t, "kind", amber.KindOf(err), c.kind)
		})
	}
	_, err := writer.New(writer.Options{Command: "/nowhere/digest", Timeout: time.Minute}).Write(context.Background(), session())
	must.Equal(t, "a program that is not there", amber.KindOf(err), amber.KindUnreachable)
}

// When a program takes too long, the processes that it has started end with it.
func TestCommandEndsWithItsChildren(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pid := filepath.Join(dir, "pid")
	script := program(t, `sleep 600 >/dev/null 2>&1 & echo $! > `+pid+`.tmp; mv `+pid+`.tmp `+pid+`; wait`)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(pid); err == nil {
				cancel() // the child is there
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := writer.New(writer.Options{Command: script, Timeout: time.Minute}).Write(ctx, session())
	must.Equal(t, "kind", amber.KindOf(err), amber.KindUnreachable)
	child := must.Get(strconv.Atoi(strings.TrimSpace(string(must.Get(os.ReadFile(pid))(t)))))(t)
	for range 1000 {
		// A zombie, for which its parent has not waited yet, is dead, too.
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child)); err != nil && syscall.Kill(child, 0) != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", child)
}

// An error does not hold what may be secret in the URL.
func TestEndpointKeepsItsURL(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := writer.New(writer.Options{URL: server.URL + "/v1?key=opensesame", Timeout: time.Minute}).Write(context.Background(), session())
	if amber.KindOf(err) != amber.KindUnreachable || strings.Contains(err.Error(), "opensesame") {
		t.Error(err)
	}
}

// chat answers like a chat endpoint.
func chat(said string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		b, _ := json.Marshal(said)
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%s}}]}`, b)
	}
}

// A model gets short ids of turns, and the key; its answer is read, fenced or not.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	for _, said := range []string{`{"items":[{"kind":"preference","text":"Tabs.","turns":["t1"]}]}`, "```json\n{\"items\":[{\"kind\":\"preference\",\"text\":\"Tabs.\",\"turns\":[\"t1\"]}]}\n```"} {
		var body, auth, path string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			body, auth, path = string(b), r.Header.Get("Authorization"), r.URL.Path
			chat(said)(w, r)
		}))
		w := writer.New(writer.Options{URL: server.URL + "/v1/", Model: "small", Key: "k", Timeout: time.Minute})
		must.Equal(t, "label", w.Label(), "url")
		items := must.Get(w.Write(context.Background(), session()))(t)
		must.Equal(t, "items", items, []digest.Item{{Kind: digest.Preference, Text: "Tabs.", Turns: []amber.TurnID{"aaaa"}}})
		must.Equal(t, "path and key", []string{path, auth}, []string{"/v1/chat/completions", "Bearer k"})
		if !strings.Contains(body, `"model":"small"`) || !strings.Contains(body, `\"id\":\"t2\"`) || strings.Contains(body, "POISON") || strings.Contains(body, "aaaa") {
			t.Error(body)
		}
		server.Close()
	}
}

func TestEndpointsThatFail(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		kind   amber.Kind
	}{
		"status": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, amber.KindUnreachable},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/x", http.StatusTemporaryRedirect)
		}, amber.KindUnreachable},
		"no chat": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"a":1}`) }, amber.KindInvalid},
		"prose":   {chat("I think the session was nice."), amber.KindInvalid},
		"huge":    {func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 2<<20)) }, amber.KindInvalid},
		"hangs":   {func(http.ResponseWriter, *http.Request) { <-hang }, amber.KindUnreachable},
	} {
		server := httptest.NewServer(c.answer)
		o := writer.Options{URL: server.URL, Timeout: time.Minute}
		if name == "hangs" {
			o.Timeout = 50 * time.Millisecond
		}
		_, err := writer.New(o).Write(context.Background(), session())
		if amber.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
		}
		if name == "hangs" {
			close(hang)
		}
		server.Close()
	}
	// A turn that there is not becomes one that the check refuses.
	server := httptest.NewServer(chat(`{"items":[{"kind":"task","text":"Tabs in files.","turns":["t9"]}]}`))
	defer server.Close()
	items := must.Get(writer.New(writer.Options{URL: server.URL, Timeout: time.Minute}).Write(context.Background(), session()))(t)
	_, err := digest.Check(session(), items)
	must.Equal(t, "kind", amber.KindOf(err), amber.KindInvalid)
}

// A model gets the last hundred commands, files and tasks, however many a session has.
func TestEndpointGetsABoundedSession(t *testing.T) {
	t.Parallel()
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body = string(b)
		chat(`{"items":[]}`)(w, r)
	}))
	t.Cleanup(server.Close)
	s := session()
	for i := range 150 {
		for _, kind := range []amber.ActivityKind{amber.ActivityCommand, amber.ActivityFile, amber.ActivityTask} {
			s.Activity = append(s.Activity, amber.Activity{Kind: kind, Name: fmt.Sprintf("%s-%03d", kind, i), Count: 1})
		}
	}
	must.Get(writer.New(writer.Options{URL: server.URL, Timeout: time.Minute}).Write(t.Context(), s))(t)
	for _, kind := range []amber.ActivityKind{amber.ActivityCommand, amber.ActivityFile, amber.ActivityTask} {
		must.Equal(t, string(kind), strings.Count(body, string(kind)+"-"), 100)
		must.Says(t, "last "+string(kind), body, string(kind)+"-149")
	}
}
