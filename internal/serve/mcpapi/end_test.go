package mcpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
	"github.com/amber-memory/amber/wire"
)

// stalled counts nothing until its context ends.
type stalled struct{ begun, ended chan struct{} }

func (w stalled) Stats(ctx context.Context) (amber.Stats, error) {
	w.begun <- struct{}{}
	<-ctx.Done()
	w.ended <- struct{}{}
	return amber.Stats{}, ctx.Err()
}

// change puts other parts into the store of the default agent.
func (r *rig) change(fn func(*amber.Parts)) {
	a := r.agents["default/default"]
	parts := a.Store.Present()
	fn(&parts)
	a.Store = amber.NewStore(parts)
}

// hang makes mem_stats of the default agent wait for the end of its context.
func (r *rig) hang() stalled {
	w := stalled{make(chan struct{}, 1), make(chan struct{}, 1)}
	r.change(func(p *amber.Parts) { p.Stats = w })
	return w
}

// TestACallEndsWithItsTime: nothing keeps a caller and an agent for ever.
func TestACallEndsWithItsTime(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r := newRig(t)
	w := r.hang()
	o := r.options("engram")
	o.Timeout = 500 * time.Millisecond // an answer has to be written in this time too
	s := r.listen(o)
	for _, version := range []string{"", "2025-06-18"} {
		r.dial(s, "/mcp", "root", version).failsAs(version, amber.KindUnreachable, "mem_stats", nil)
		<-w.begun
		<-w.ended
	}
}

// TestACallEndsWithItsCaller, in every version of the protocol.
func TestACallEndsWithItsCaller(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r := newRig(t)
	w := r.hang()
	s := r.listen(r.options("engram"))
	for _, version := range append(mcp.SupportedProtocolVersions(), "") {
		c := r.dial(s, "/mcp", "root", version)
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = c.cs.CallTool(ctx, &mcp.CallToolParams{Name: "mem_stats"})
		}()
		<-w.begun
		leave()
		<-w.ended
		<-gone
	}
}

// leaving is a store whose caller goes away while the first of many is deleted.
type leaving struct {
	amber.LongTerm
	amber.MemoryReader
	leave   context.CancelFunc
	job     context.Context // of the call; ends once the server knows that the caller has gone away
	deleted chan amber.MemoryID
}

func (l *leaving) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	l.job = ctx
	return l.MemoryReader.List(ctx, q)
}

func (l *leaving) Delete(ctx context.Context, id amber.MemoryID) error {
	l.leave()
	<-l.job.Done()
	err := ctx.Err()
	if err == nil {
		err = l.LongTerm.Delete(ctx, id)
	}
	if err != nil {
		close(l.deleted)
		return err
	}
	l.deleted <- id
	return nil
}

// TestAChangeOfManyIsWhole: a caller who leaves in the middle does not leave half
// of it behind.
func TestAChangeOfManyIsWhole(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	const many = 5
	r := newRig(t)
	entities, names := []any{}, []string{}
	for i := range many {
		names = append(names, fmt.Sprintf("%q", fmt.Sprint("e", i)))
		entities = append(entities, object{"name": fmt.Sprint("e", i), "entityType": "t", "observations": []any{}})
	}
	r.local("reference").call("create_entities", object{"entities": entities})
	ctx, leave := context.WithCancel(t.Context())
	l := &leaving{LongTerm: r.store().LongTerm, MemoryReader: r.store().Memories, leave: leave, deleted: make(chan amber.MemoryID, many)}
	r.change(func(p *amber.Parts) { p.LongTerm, p.Memories = l, l })
	h := must.Get(mcpapi.NewHandler(r.options("reference")))(t)
	body := message(1, "tools/call", `{"name":"delete_entities","arguments":{"entityNames":[`+strings.Join(names, ",")+`]}}`)
	q := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body)).WithContext(ctx)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	h(httptest.NewRecorder(), q, everything)
	for i := range many {
		if _, ok := <-l.deleted; !ok {
			t.Fatalf("it ended after %d of %d", i, many)
		}
	}
}

// TestEveryChangeOfManyIsWrittenDown: an entry for each of the ids.
func TestEveryChangeOfManyIsWrittenDown(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r := newRig(t)
	c := r.local("reference,files,engram")
	e := func(name string) object {
		return object{"name": name, "entityType": "t", "observations": []any{"o"}}
	}
	rel := object{"from": "a", "to": "b", "relationType": "knows"}
	for _, test := range []struct {
		tool string
		args object
		want int
	}{
		{"create_entities", object{"entities": []any{e("a"), e("b"), e("c")}}, 3},
		{"create_relations", object{"relations": []any{rel, object{"from": "b", "to": "c", "relationType": "knows"}}}, 2},
		{"add_observations", object{"observations": []any{object{"entityName": "a", "contents": []any{"x"}}, object{"entityName": "b", "contents": []any{"y"}}}}, 2},
		{"delete_observations", object{"deletions": []any{object{"entityName": "a", "observations": []any{"x"}}}}, 1},
		{"delete_relations", object{"relations": []any{rel, rel}}, 1},
		{"delete_entities", object{"entityNames": []any{"a", "b", "a", "nobody"}}, 2},
		{"mem_capture_passive", object{"content": "## Key Learnings\n1. a learning that is long enough\n2. another one that is long enough\n"}, 2},
		{"memory", object{"command": "create", "path": "/memories/d/one.md", "file_text": "1"}, 1},
		{"memory", object{"command": "create", "path": "/memories/d/two.md", "file_text": "2"}, 1},
		{"memory", object{"command": "rename", "old_path": "/memories/d", "new_path": "/memories/f"}, 2},
		{"memory", object{"command": "delete", "path": "/memories/f"}, 2},
	} {
		r.audit.Cut(0)
		c.call(test.tool, test.args)
		entries := r.audit.Cut(0)
		var subjects []string
		for _, e := range entries {
			if e.Action != "mcp."+test.tool || e.Outcome != "ok" || e.Subject == "" || slices.Contains(subjects, e.Subject) {
				t.Errorf("%s: %+v", test.tool, e)
			}
			subjects = append(subjects, e.Subject)
		}
		must.Equal(t, test.tool+": entries", len(entries), test.want)
	}
	// The call found nothing to delete, and the audit log has an entry that it was made.
	c.call("delete_entities", object{"entityNames": []any{"nobody"}})
	want := []wire.AuditEntry{{Tenant: "default", Agent: "default", Actor: "local", Action: "mcp.delete_entities", Outcome: "ok"}}
	must.Equal(t, "", r.audit.Cut(0), want, cmp.AllowUnexported(amber.Time{}))
}

// TestEveryCallIsObserved, those too that cannot be read.
func TestEveryCallIsObserved(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var seen []string
	r.desk.Clock = tick()
	r.desk.Observe = func(tool string, err error, _ time.Duration) {
		seen = append(seen, tool+" "+string(amber.KindOf(err)))
	}
	c := r.local("default")
	c.call("memory_recall", object{"query": "x"})
	c.fails("memory_recall", object{"query": 7})
	c.fails("memory_get", object{"id": someID})
	if _, err := c.cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "rm -rf"}); err == nil {
		t.Error("there is a tool for everything")
	}
	must.Equal(t, "", seen, []string{"memory_recall ", "memory_recall invalid", "memory_get not_found", "other invalid"})
}

// TestTheLogHasNoChatter: a call that works leaves no line, however much is
// logged, nor does one that an agent got wrong.
func TestTheLogHasNoChatter(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var log bytes.Buffer
	o := r.options("default")
	o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := r.session(o, everything, "default", "default")
	c.call("memory_recall", object{"query": "x"})
	c.fails("memory_get", object{"id": someID})
	must.Do(t, c.cs.Close())
	must.Equal(t, "the log", log.String(), "")
}
