package main

import (
	"crypto/rand"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// pageVisitor is a browser without JavaScript, which the server asks for no token.
type pageVisitor struct {
	t    *testing.T
	http *http.Client
}

func newPageVisitor(t *testing.T) *pageVisitor {
	t.Helper()
	return &pageVisitor{t, &http.Client{
		Jar: must.Get(cookiejar.New(nil))(t), Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

var (
	csrfField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)
	tags      = regexp.MustCompile(`<[^>]*>`)
)

// get returns the words of a page and the value of its forms.
func (v *pageVisitor) get(at string) (text, csrf string) {
	v.t.Helper()
	resp := must.Get(v.http.Get(at))(v.t)
	defer func() { _ = resp.Body.Close() }()
	b := must.Get(io.ReadAll(resp.Body))(v.t)
	if resp.StatusCode != http.StatusOK {
		v.t.Fatalf("%s: status %d: %s", at, resp.StatusCode, b)
	}
	if m := csrfField.FindSubmatch(b); m != nil {
		csrf = string(m[1])
	}
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(string(b), " "))), " "), csrf
}

// restore begins a restore and returns the path of the page of its job.
func (v *pageVisitor) restore(base string, id amber.SnapshotID, word string) string {
	v.t.Helper()
	at := base + "/ui/default/default/snapshots/" + string(id) + "/restore"
	_, csrf := v.get(at)
	form := url.Values{"csrf": {csrf}, "only": {"memory", "notes", "state"}, "word": {word}}
	resp := must.Get(v.http.PostForm(at, form))(v.t)
	defer func() { _ = resp.Body.Close() }()
	must.Equal(v.t, "status", resp.StatusCode, http.StatusSeeOther)
	return resp.Header.Get("Location")
}

// settled returns the words of a page once no process is at work on the agent: a server that was just started
// clears up what the killed one left, and the page says so and asks again.
func (v *pageVisitor) settled(at string) (text string) {
	v.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if text, _ = v.get(at); !strings.Contains(text, "a process is at work on the agent") {
			break
		}
	}
	return text
}

// killPoints are where a server is killed: when something shows on the disk. Dir is the folder of the
// agent, next the folder of the generation that is built, "" before there is one.
var killPoints = []struct {
	name string
	so   func(dir, old, next string) bool
}{
	{"at once", func(string, string, string) bool { return true }},
	{"the note is there", func(dir, _, _ string) bool { return exists(dir, "RESTORING") }},
	{"the folder is there", func(_, _, next string) bool { return next != "" }},
	{"the memory is built", func(_, _, next string) bool { return next != "" && exists(next, "memory.db") }},
	{"the control plane is carried over", func(_, _, next string) bool { return next != "" && exists(next, "control.db") }},
	{"the safety snapshot is vouched for", func(_, _, next string) bool { return next != "" && exists(next, "REPLACED") }},
	{"the record of the restore is there", func(_, _, next string) bool { return next != "" && exists(next, "RESTORED") }},
	{"the note is gone", func(dir, _, next string) bool { return next != "" && !exists(dir, "RESTORING") }},
	{"the old generation is marked", func(_, old, _ string) bool { return exists(old + ".removing") }},
	{"the old generation is gone", func(_, old, _ string) bool { return !exists(old) }},
}

func exists(elements ...string) bool {
	_, err := os.Lstat(filepath.Join(elements...))
	return err == nil
}

// TestThePageTellsTheTruthAboutARestoreWhoseServerWasKilled kills a server while a restore runs that was begun on
// the page, and compares what the page says afterwards with what is on the disk.
func TestThePageTellsTheTruthAboutARestoreWhoseServerWasKilled(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.serve()
	var items []string
	for i := range 500 {
		items = append(items, remembering("fact %d %s", i, strings.Repeat("word ", 100)))
	}
	for len(items) > 0 {
		n := min(16, len(items))
		r.answer(http.MethodPost, agentURL+"/memories/batch", `{"items":[`+strings.Join(items[:n], ",")+`]}`, nil)
		items = items[n:]
	}
	var s wire.SnapshotMeta
	r.answer(http.MethodPost, agentURL+"/snapshots", `{"label":"the good one"}`, &s)
	folder := must.Get(must.Get(home.At(u.home, home.Options{Clock: time.Now, Random: rand.Reader}))(t).Agent("default", "default"))(t)
	outcomes := map[string]int{}
	for _, point := range killPoints {
		before := must.Get(folder.Current())(t)
		r.answer(http.MethodPost, agentURL+"/memories", remembering("later than the snapshot, %s", point.name), nil)
		v := newPageVisitor(t)
		job := v.restore(r.url, s.ID, "the good one")
		r.awaitOnDisk(point.name, folder.Dir(), folder.GenDir(before), point.so)
		r.kill()
		truth := must.Get(folder.Current())(t)
		r = u.serve()
		text := newPageVisitor(t).settled(r.url + job)
		_, later := r.contents()["later than the snapshot, "+point.name]
		want := fmt.Sprintf("Nothing was changed: the agent is as before the restore, on generation %d.", before.Generation)
		if truth.Generation != before.Generation {
			want = fmt.Sprintf("was completed: the agent is on generation %d.", truth.Generation)
		}
		if !strings.Contains(text, want) || !strings.Contains(text, "The server was stopped after this had begun") {
			t.Errorf("%s: the page does not say %q: %s", point.name, want, text)
		}
		must.Equal(t, point.name+": the later memory is there", later, truth.Generation == before.Generation)
		if truth.Generation != before.Generation {
			mustNameSafety(t, r, s.ID, text)
		}
		outcomes[strings.Fields(want)[0]]++
	}
	t.Logf("outcomes: %v", outcomes)
	if len(outcomes) != 2 {
		t.Errorf("want restores that were completed and restores that were not: %v", outcomes)
	}
	r.stop()
	u.must("", "doctor")
}

// awaitOnDisk looks at the disk without a pause until something is so: what is waited for may last for microseconds. A
// restore that is over without it is good enough, because the page has to tell the truth then, too.
func (r *running) awaitOnDisk(what, dir, old string, so func(dir, old, next string) bool) {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		next := ""
		entries, _ := os.ReadDir(filepath.Join(dir, "gen")) // it may change while it is read
		for _, e := range entries {
			live, _ := strconv.Atoi(filepath.Base(old))
			if n, err := strconv.Atoi(e.Name()); err == nil && n > live {
				next = filepath.Join(dir, "gen", e.Name())
			}
		}
		if so(dir, old, next) || next != "" && !exists(old) {
			return
		}
	}
	r.t.Fatalf("it does not happen: %s\n%s", what, r.log)
}

// mustNameSafety expects that the page names the snapshot of the agent as it was.
func mustNameSafety(t *testing.T, r *running, from amber.SnapshotID, text string) {
	t.Helper()
	var page amber.Page[wire.SnapshotMeta]
	r.get(agentURL+"/snapshots?limit=1000", &page)
	for _, m := range page.Items {
		if m.Label == wire.LabelBeforeRestore+string(from) && strings.Contains(text, string(m.ID)) {
			return
		}
	}
	t.Errorf("the page names no safety snapshot: %s", text)
}
