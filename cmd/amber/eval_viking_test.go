//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/measure"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

// evalQuestions asks for a memory by a word that it has, and by another word for the same.
const evalQuestions = `{"memories": [
	{"key": "truck", "content": "A truck in the yard.", "created_at": "2026-01-01T00:00:00Z"},
	{"key": "cents", "content": "Coupons are rounded to cents.", "created_at": "2026-01-01T00:00:00Z"}],
 "questions": [
	{"q": "coupons", "class": "same", "keys": ["cents"]},
	{"q": "lorry", "class": "other", "keys": ["truck"]}]}`

// lorries is a server without keys that knows another word for a truck.
func lorries(workspace string) ovfake.Options {
	return ovfake.Options{Mode: ovfake.ModeDev, Workspace: workspace, Embedder: ovfake.Embedder{Synonyms: map[string]string{"lorry": "truck"}}}
}

// evalConfigFile writes a configuration with a server, and keys of the backend.
func (s *setting) evalConfigFile(name, url string, keys ...string) string {
	text := "memory:\n  backend: openviking\n  backends:\n    openviking:\n      url: " + url
	for _, k := range keys {
		text += "\n      " + k
	}
	return s.file(name, text+"\n")
}

// filesIn returns every file and folder below a folder, with the text of files.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[path] = string(must.Get(os.ReadFile(path))(t))
		} else if err == nil {
			all[path] = "a folder"
		}
		return err
	}))
	return all
}

// An evaluation asks the server of a configuration, and leaves it as it was: the files of the
// agents that are there, and nothing of its own.
func TestEvaluationLeavesTheServerAsItWas(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	work := s.path("workspace")
	must.Do(t, os.Mkdir(work, 0o700))
	server := s.viking(lorries(work))
	s.does("remember", "A plan of mine about a lorry.")
	s.does("index", "sync")
	before, written := filesIn(t, work), server.Calls("batch-write")
	set, file := s.file("set.json", evalQuestions), s.evalConfigFile("viking.yaml", server.Start(), "mode: dev", "min_score: 0.65")

	r := told[measure.RecallEvaluation](s, "eval", "recall", set, "--model", "none", "--config", file)
	must.Equal(t, "server", *r.OpenViking, measure.Server{URL: server.Start(), MinScore: 0.65, Fusion: "behind"})
	must.Equal(t, "found in other words, and in the same", [2]float64{r.Sets[0].Classes[1].First, r.Sets[0].Classes[0].First}, [2]float64{1, 1})
	must.Equal(t, "degraded", r.Sets[0].Degraded, 0)
	must.Hold(t, server.Calls("batch-write") > written, "the set was not sent")
	must.Equal(t, "files on the server", filesIn(t, work), before)
	must.Equal(t, "files of the agent that differ", s.exit("index", "verify", "--deep"), "exit 0")
	must.Says(t, "text", s.does("eval", "recall", set, "--model", "none", "--config", file), "backend: openviking at "+server.Start())

	r = told[measure.RecallEvaluation](s, "eval", "recall", set, "--model", "none")
	must.Equal(t, "found in other words without a server", r.Sets[0].Classes[1].Any10, 0)
	must.Hold(t, r.OpenViking == nil, "a server was named: %+v", r.OpenViking)
}

// A server with keys is asked with the key of a file; keys by name belong to other agents.
func TestEvaluationWithAKey(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	work := s.path("workspace")
	must.Do(t, os.Mkdir(work, 0o700))
	o := lorries(work)
	o.Mode = ovfake.ModeKey
	server := s.viking(o)
	key := s.file("viking.key", s.vikingKey(server))
	s.set(vikingVariable("key_file"), key)
	s.does("remember", "A plan of mine about a lorry.")
	s.does("index", "sync")
	before := filesIn(t, work)
	set := s.file("set.json", evalQuestions)
	ask := []string{"eval", "recall", set, "--model", "none", "--config"}
	r := told[measure.RecallEvaluation](s, append(ask, s.evalConfigFile("viking.yaml", server.Start(), "min_score: 0.65", "key_file: "+key))...)
	must.Equal(t, "found in other words", r.Sets[0].Classes[1].First, 1)
	must.Equal(t, "files on the server", filesIn(t, work), before)

	for _, keys := range [][]string{{}, {"keys_dir: " + s.dir}, {"mode: trusted", "keys_dir: " + s.dir}} {
		_, complaint, code := s.amber("", append(ask, s.evalConfigFile("viking.yaml", server.Start(), keys...))...)
		must.Equal(t, fmt.Sprint("exit code with ", keys), code, amber.KindRefused.ExitCode())
		must.Says(t, fmt.Sprint("complaint with ", keys), complaint, "key_file")
	}
}

// An evaluation says that the server did not answer, so that no reader takes its figures for those of the
// server.
func TestEvaluationOfAServerThatIsAway(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	server := s.viking(lorries(""))
	set, file := s.file("set.json", evalQuestions), s.evalConfigFile("viking.yaml", server.Start(), "mode: dev", "min_score: 0.65")
	server.Fail(http.StatusServiceUnavailable, "UNAVAILABLE", "/api/v1/search/find")
	r := told[measure.RecallEvaluation](s, "eval", "recall", set, "--model", "none", "--config", file)
	must.Equal(t, "degraded", r.Sets[0].Degraded, 2)
	must.Says(t, "why", r.Sets[0].DegradedWhy, "OpenViking did not answer")
	must.Says(t, "text", s.does("eval", "recall", set, "--model", "none", "--config", file), "degraded answers: 2 of 2, the first: OpenViking did not answer")

	server.Fail(http.StatusBadRequest, "INVALID_ARGUMENT", "/api/v1/content/batch-write")
	_, complaint, code := s.amber("", "eval", "recall", set, "--config", file)
	must.Equal(t, "exit code where no memory is taken", code, amber.KindInvalid.ExitCode())
	must.Says(t, "complaint", complaint, "did not take 2 memories of the set: ")

	server.Calm()
	server.EmbedderDown(true)
	now := time.Now()
	s.at = func() time.Time { now = now.Add(5 * time.Second); return now } // the wait ends soon
	_, complaint, code = s.amber("", "eval", "recall", set, "--config", file)
	must.Equal(t, "exit code without vectors", code, amber.KindUnreachable.ExitCode())
	must.Says(t, "complaint", complaint, "the server makes no vectors")

	server.Down(true)
	must.Equal(t, "exit code without a server", s.exit("eval", "recall", set, "--config", file), fmt.Sprint("exit ", amber.KindUnreachable.ExitCode()))
}

// A set of conversations says that the server has no part in it.
func TestEvaluationOfConversationsBesideAServer(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	server := s.viking(lorries(""))
	set := s.file("set.json", `{"sample_id":"1","conversation":{"speaker_a":"Ann","speaker_b":"Bo","session_1_date_time":"1:56 pm on 8 May, 2023",
		"session_1":[{"speaker":"Ann","dia_id":"D1:1","text":"The truck is red."}]},"qa":[{"question":"truck","evidence":["D1:1"],"category":4}]}`)
	must.Says(t, "text", s.does("eval", "recall", set, "--config", s.evalConfigFile("viking.yaml", server.Start(), "mode: dev", "min_score: 0.65")), "the server has no part in these figures")
	must.Equal(t, "questions to the server", server.Calls("find"), 0)
}

// An evaluation of the context that hooks put before an agent runs without the server, which gets no request.
func TestEvaluationOfContextLeavesTheServerAlone(t *testing.T) {
	t.Parallel()
	set := `{"sessions":[{"id":"a","project":"a/b","session_id":"s","started_at":"2026-01-01T00:00:00Z",
		"events":[{"hook_event_name":"SessionStart","session_id":"s"},{"hook_event_name":"SessionEnd","session_id":"s"}],"quiet":["where is the lorry?"]}]}`
	for name, config := range map[string]string{
		"the backend":    "memory:\n  backend: openviking\n  backends:\n    openviking:\n      mode: dev\n      url: ",
		"of a layer":     "memory:\n  layers:\n    long_term: {backend: openviking}\n  backends:\n    openviking:\n      mode: dev\n      url: ",
		"of other layer": "memory:\n  layers:\n    turns: {backend: openviking}\n  backends:\n    openviking:\n      mode: dev\n      url: ",
	} {
		s := newSetting(t, false)
		server := ovfake.New(lorries(""))
		t.Cleanup(server.Close)
		asked := 0
		door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			server.Handler().ServeHTTP(w, r)
		}))
		t.Cleanup(door.Close)
		_, complaint, code := s.amber("", "eval", "context", s.file("set.json", set), "--config", s.file("viking.yaml", config+door.URL+"\n"))
		must.Equal(t, name+": exit code", code, 0)
		must.Says(t, name, complaint, "OpenViking server of the configuration is not used")
		must.Equal(t, name+": requests", asked, 0)
	}
}

// interruptedEval runs an evaluation in front of a server whose requests pass a door, which may
// end the evaluation, and returns what it complained of.
func interruptedEval(t *testing.T, server *ovfake.Server, door func(w http.ResponseWriter, r *http.Request, stop func()) (answered bool)) string {
	t.Helper()
	s := newSetting(t, false)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !door(w, r, stop) {
			server.Handler().ServeHTTP(w, r)
		}
	}))
	defer front.Close()
	var complaint bytes.Buffer
	code := run(ctx, []string{"eval", "recall", s.file("set.json", evalQuestions), "--config", s.evalConfigFile("viking.yaml", front.URL, "mode: dev")}, s.world("", &bytes.Buffer{}, &complaint))
	must.Hold(t, code != 0, "the evaluation was not interrupted: %s", &complaint)
	return complaint.String()
}

// An evaluation that is interrupted deletes its files, whatever it was doing, also where the server
// goes on with what was called off; and names what it could not delete.
func TestInterruptedEvaluationLeavesNothingOnTheServer(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"/content/batch-write", "/search/find", "/system/consistency"} {
		work := t.TempDir()
		server := ovfake.New(lorries(work))
		t.Cleanup(server.Close)
		complaint := interruptedEval(t, server, func(w http.ResponseWriter, r *http.Request, stop func()) bool {
			if strings.HasSuffix(r.URL.Path, at) {
				server.Handler().ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
				stop()
				return true
			}
			return false
		})
		must.Says(t, at, complaint, "interrupted")
		must.Equal(t, "texts after "+at, len(textsIn(t, work, "truck")), 0)
		must.Hold(t, server.Calls("batch-write") == 1 && server.Calls("delete") > 0, "%s: %d writes, %d deletions", at, server.Calls("batch-write"), server.Calls("delete"))
	}
	server := ovfake.New(lorries(""))
	t.Cleanup(server.Close)
	complaint := interruptedEval(t, server, func(w http.ResponseWriter, r *http.Request, stop func()) bool {
		if strings.HasSuffix(r.URL.Path, "/search/find") {
			stop()
		}
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return false
	})
	must.Says(t, "where nothing is deleted", complaint, "files of the evaluation stay on the OpenViking server", "viking://user/default/memories/amber/default.eval-")
}
