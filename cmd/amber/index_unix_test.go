//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// indexStatus asks how far the index is.
func (u *user) indexStatus() (s wire.IndexStatus) {
	u.t.Helper()
	must.Do(u.t, json.Unmarshal([]byte(u.must("", "--json", "index", "status")), &s))
	return s
}

// A server makes the vectors of the memories that it gets and of those that another process wrote, and /health
// reports how far it is.
func TestAServerMakesVectors(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.configure("search: {model: none}\n")
	u.must("", "remember", "Deployments to production are frozen on Fridays", "--scope", "global")
	u.configure("search: {model: builtin}\n")
	r := u.serve()
	r.answer(http.MethodPost, agentURL+"/memories", remembering("The invoice service talks to a ledger in Oslo"), nil)
	var health wire.ServerHealth
	r.await("vectors", func() bool {
		r.get("/health", &health)
		return health.Index != nil && health.Index.Passages == 2 && health.Index.Pending == 0 && health.Index.Waiting == 0
	})
	for question, want := range map[string]string{"when must we not ship a release": "frozen on Fridays", "which bookkeeping system do bills go to": "in Oslo"} {
		var got amber.RecallResult
		body := must.Get(json.Marshal(map[string]any{"text": question}))(t)
		r.answer(http.MethodPost, agentURL+"/recall", string(body), &got)
		if len(got.Hits) == 0 || !strings.Contains(got.Hits[0].Content, want) || got.Degraded != "" {
			t.Errorf("%s: %+v", question, got)
		}
	}
	r.stop()
}

// Every command that writes a text makes its vector, as the one that stores a memory does. It may
// take a moment for that and no more, so on a busy machine one of several has to do it.
func TestCommandsMakeVectors(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(u *user, i int){
		"note write": func(u *user, i int) {
			u.must("", "note", "write", fmt.Sprint("otters/", i), fmt.Sprint("Otter ", i, " sleeps in the reeds"))
		},
		"turn add": func(u *user, i int) {
			if i == 0 {
				u.must("", "session", "start")
			}
			u.must("", "turn", "add", fmt.Sprint("Otter ", i, " sleeps in the reeds"))
		},
		"session end": func(u *user, i int) {
			u.must("", "session", "start")
			u.must("", "session", "end", "--summary", fmt.Sprint("Otter ", i, " sleeps in the reeds"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			makesVectors(t, write)
		})
	}
}

func makesVectors(t *testing.T, write func(u *user, i int)) {
	u := newUser(t)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Input []string `json:"input"`
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		answerVectors(w, len(in.Input))
	}))
	t.Cleanup(model.Close)
	u.configure("search: {model: '" + model.URL + "/v1', model_name: tiny}\n")
	for i := range 20 {
		write(u, i)
		if u.indexStatus().Vectors > 0 {
			return
		}
	}
	t.Errorf("no command made a vector of what it wrote: %+v", u.indexStatus())
}

// answerVectors answers as an endpoint of embeddings does.
func answerVectors(w http.ResponseWriter, n int) {
	one := `{"embedding":[1` + strings.Repeat(",0", 15) + `]}`
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"data":[%s]}`, one+strings.Repeat(","+one, n-1))
}

// "amber index sync" that is interrupted says how far it came and keeps what it made; the next
// one goes on there.
func TestIndexSyncIsInterruptedAndGoesOn(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.configure("search: {model: none}\n")
	lines := strings.Builder{}
	for i := range 40 {
		fmt.Fprintf(&lines, `{"content":"note %d about otters","scope":"global"}`+"\n", i)
	}
	u.must(lines.String(), "remember", "--jsonl", "-")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var texts atomic.Int64
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Input []string `json:"input"`
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if texts.Add(int64(len(in.Input))) > 10 && ctx.Err() == nil {
			interrupt()
			<-r.Context().Done()
			return
		}
		answerVectors(w, len(in.Input))
	}))
	t.Cleanup(model.Close)
	u.configure("search: {model: '" + model.URL + "/v1', model_name: tiny}\n")
	w := testWorld(filepath.Dir(u.home), "PATH="+os.Getenv("PATH"), "HOME="+filepath.Dir(u.home), "AMBER_HOME="+u.home, "XDG_CONFIG_HOME="+filepath.Dir(u.home))
	runIn(ctx, t, w, "index", "sync").exits(amber.KindUnreachable.ExitCode()).warns("vectors were made", "amber index sync goes on")
	between := u.indexStatus()
	if between.Vectors == 0 || between.Vectors > 10 || between.Vectors+between.Pending != 40 {
		t.Errorf("after the interruption: %+v", between)
	}
	before := texts.Load()
	u.must("", "index", "sync")
	if s := u.indexStatus(); s.Vectors != 40 || s.Pending != 0 {
		t.Errorf("at the end: %+v", s)
	}
	must.Equal(t, "texts that were sent to go on", texts.Load()-before, 40-between.Vectors)
	u.must("", "index", "verify")
}
