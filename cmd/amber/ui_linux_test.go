package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/amber-memory/amber/cmd/amber/internal/serve"
	"github.com/amber-memory/amber/internal/test/must"
)

// visited is amber ui in this process.
type visited struct {
	*setting
	page   string // its address
	opened string // what the browser was told to open
	ended  chan int
	log    logBuffer
	stop   context.CancelFunc
	tick   chan time.Time // lets it look for visitors
	later  atomic.Int64   // added to the clock
	client *http.Client
}

// openUI starts amber ui with a browser that reports the address it was to open.
func openUI(t *testing.T, args ...string) *visited {
	t.Helper()
	s := newSetting(t, false)
	v := &visited{setting: s, ended: make(chan int, 1), tick: make(chan time.Time), client: &http.Client{Transport: &http.Transport{}}}
	fifo := s.path("opened")
	must.Do(t, syscall.Mkfifo(fifo, 0o600))
	must.Do(t, os.WriteFile(s.path("browser"), []byte("#!/bin/sh\necho \"$1\" >"+fifo+"\n"), 0o700))
	s.set("BROWSER", s.path("browser"))
	s.set("AMBER_SERVER__LISTEN", "127.0.0.1:0")
	begun := time.Now()
	s.at = func() time.Time { return begun.Add(time.Duration(v.later.Load())) }
	s.after = func(d time.Duration) <-chan time.Time {
		if d == 15*time.Second { // a quarter of --idle
			return v.tick
		}
		return nil
	}
	var ctx context.Context
	ctx, v.stop = context.WithCancel(t.Context())
	r, out := io.Pipe()
	go func() {
		v.ended <- run(ctx, append([]string{"ui"}, args...), s.world("", out, &v.log))
		_ = out.Close()
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("exit %d\n%s", <-v.ended, v.log.String())
	}
	v.page = strings.TrimSpace(line)
	v.opened = strings.TrimSpace(string(must.Get(os.ReadFile(fifo))(t)))
	return v
}

// look opens the stream of a tab; close ends it as closing the tab does.
func (v *visited) look() (closeTab func()) {
	v.Helper()
	ctx, cancel := context.WithCancel(v.Context())
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, v.page+"-/beat", nil))(v)
	resp := must.Get(v.client.Do(req))(v)
	must.Equal(v, "the first line of the stream", must.Get(bufio.NewReader(resp.Body).ReadString('\n'))(v), ": open\n")
	return func() { cancel(); _ = resp.Body.Close() }
}

// pass lets time pass, and the server look twice: the second look begins when the first one is over.
func (v *visited) pass(d time.Duration) {
	v.Helper()
	v.later.Add(int64(d))
	for range 2 {
		select {
		case v.tick <- time.Time{}:
		case code := <-v.ended:
			v.Fatalf("the server has ended with %d\n%s", code, v.log.String())
		}
	}
}

func TestThePageEndsWithItsLastTab(t *testing.T) {
	t.Parallel()
	v := openUI(t)
	must.Equal(t, "what the browser opens", v.opened, v.page)
	v.pass(9 * time.Minute) // no visitor has come yet
	closeTab := v.look()
	v.pass(24 * time.Hour) // a visitor reads
	closeTab()
	for { // until the server has noticed
		v.later.Add(int64(time.Minute))
		select {
		case v.tick <- time.Time{}:
			continue
		case code := <-v.ended:
			must.Equal(t, "exit code", code, 0)
		}
		break
	}
	if log := v.log.String(); !strings.Contains(log, "nobody looks at the page any more") {
		t.Errorf("it says %s", log)
	}
	if _, err := os.Stat(v.path("home", "serve.json")); !os.IsNotExist(err) {
		t.Errorf("the file that says where the server listens: %v", err)
	}
}

func TestThePageEndsAtOnceWhenItIsToldTo(t *testing.T) {
	t.Parallel()
	v := openUI(t)
	defer v.look()()
	v.stop()
	must.Equal(t, "exit code", <-v.ended, 0)
}

func TestUIOpensTheServerThatRuns(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	w := s.serve()
	must.Equal(t, "the address", s.does("ui", "--no-browser"), w.url+"/ui/")
	s.does("remember", "something", "--agent", "ada", "--new-agent")
	must.Equal(t, "the address of an agent", s.does("ui", "--no-browser", "--agent", "ada"), w.url+"/ui/default/ada")
	s.does("token", "create", "one")
	out, complaint, code := s.amber("", "ui", "--no-browser")
	if code != 0 || strings.TrimSpace(out) != w.url+"/ui/" || !strings.Contains(complaint, "the page asks for a token") {
		t.Errorf("%d %s %s", code, out, complaint)
	}
	var told serve.Opened
	must.Do(t, json.Unmarshal([]byte(s.does("--json", "ui", "--no-browser")), &told))
	must.Equal(t, "JSON", told, serve.Opened{URL: w.url + "/ui/", Home: s.path("home"), Token: true})
}

// A file that a killed server left may name the port of a stranger by now.
func TestUIDoesNotOpenTheServerOfAStranger(t *testing.T) {
	t.Parallel()
	s, other := newSetting(t, false), newSetting(t, false)
	s.serve()
	stranger := other.serve()
	mine := must.Get(os.ReadFile(s.path("home", "serve.json")))(t)
	for name, text := range map[string]string{
		"the port of another home": `{"url":"` + stranger.url + `","page":"` + stranger.url + `/ui/","secret":"MINE"}`,
		"a closed port":            `{"url":"http://127.0.0.1:1","page":"http://127.0.0.1:1/ui/","secret":"MINE"}`,
		"no secret":                string(bytes.Replace(mine, []byte(`"secret"`), []byte(`"Secret"`), 1)),
		"another scheme":           `{"url":"file:///etc","page":"file:///etc/passwd","secret":"MINE"}`,
		"no JSON":                  "http://example.org",
		"nothing":                  "",
	} {
		must.Do(t, os.WriteFile(s.path("home", "serve.json"), []byte(text), 0o600))
		out, _, code := s.amber("", "ui", "--no-browser")
		if code != 7 || out != "" {
			t.Errorf("%s: exit %d, %s", name, code, out)
		}
	}
}
