//go:build linux

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// Amber takes a snapshot before a consolidation begins, and lets only one be open at a time. The doctor and the
// next one to begin report a consolidation that never ended, until a person gives it up.
func TestConsolidationsAreMarked(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	s.does("remember", "x")
	began := told[wire.Consolidation](s, "consolidate", "begin", "--run", "nightly")
	if meta := s.listed()[0]; began.Snapshot == "" || meta.ID != began.Snapshot || meta.Label != "auto:pre-consolidation-nightly" {
		t.Errorf("began %+v, the newest snapshot is %+v", began, meta)
	}
	if open := told[wire.Consolidation](s, "consolidate", "status"); open.ID != began.ID {
		t.Errorf("open is %+v", open)
	}
	// The mark is no document of runtime state: a program that writes documents cannot end it.
	if got := s.exit("state", "delete", "consolidation"); got != "exit 3" || s.items("state", "list") != "0" {
		t.Errorf("removing the mark as a document: %s, %s documents", got, s.items("state", "list"))
	}
	// The program of this consolidation was killed, so it does not end the consolidation.
	_, complaint, code := s.amber("", "consolidate", "begin")
	if code != 4 || !strings.Contains(complaint, began.ID) || !strings.Contains(complaint, "--abandon "+began.ID) {
		t.Errorf("a second one: exit %d\n%s", code, complaint)
	}
	if f := s.finding("consolidation"); f.Status != wire.FindingWarning || !strings.Contains(f.Detail, began.ID) {
		t.Errorf("the doctor says %+v", f)
	}
	next := told[wire.Consolidation](s, "consolidate", "begin", "--abandon", began.ID)
	if u := next.Unfinished; u == nil || u.ID != began.ID || u.Outcome != wire.ConsolidationAbandoned || next.ID == began.ID {
		t.Errorf("next %+v", next)
	}
	must.Equal(t, "ending what was given up", s.exit("consolidate", "end", began.ID), "exit 3")
	if ended := told[wire.Consolidation](s, "consolidate", "end", next.ID, "--outcome", "failed"); ended.Outcome != wire.ConsolidationFailed || ended.EndedAt.IsZero() {
		t.Errorf("ended %+v", ended)
	}
	if f := s.finding("consolidation"); f.Status != wire.FindingOK {
		t.Errorf("the doctor says %+v", f)
	}
	must.Equal(t, "status", s.exit("consolidate", "status"), "exit 3")
	// The snapshot from before the consolidation holds no open one; a snapshot that is taken meanwhile holds
	// it.
	third := told[wire.Consolidation](s, "consolidate", "begin")
	within := s.snapshot()
	s.does("snapshot", "restore", string(third.Snapshot), "--yes")
	must.Equal(t, "status", s.exit("consolidate", "status"), "exit 3")
	s.does("snapshot", "restore", within, "--yes")
	if open := told[wire.Consolidation](s, "consolidate", "status"); open.ID != third.ID {
		t.Errorf("after the restore of what was meanwhile: %+v", open)
	}
}

// Where the configuration requires a snapshot and it cannot be taken, no consolidation begins. Where the
// configuration only tries to take one, the program that begins is warned.
func TestAConsolidationWithoutItsSnapshot(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	s.does("remember", "x")
	s.set("AMBER_SNAPSHOT__ENABLED", "false")
	must.Equal(t, "require", s.try("AMBER_SNAPSHOT__AUTO__BEFORE_CONSOLIDATION=require", "consolidate", "begin"), "exit 6")
	must.Equal(t, "status", s.exit("consolidate", "status"), "exit 3")
	began := told[wire.Consolidation](s, "consolidate", "begin")
	if began.Snapshot != "" || !strings.Contains(began.Warning, "snapshot.enabled is false") {
		t.Errorf("try: %+v", began)
	}
}

// A server marks the same consolidations, over HTTP and MCP.
func TestConsolidationsOverTheNetwork(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	s.does("remember", "x")
	w := must.Get(s.tryToServe("--listen", "127.0.0.1:0", "--tools", "all"))(t)
	id := s.idOf(w.ofAgent("POST", "/consolidations", `{"run":"nightly"}`))
	if status, text := w.ask("POST", "/v1/tenants/default/agents/default/consolidations", `{}`); status != 409 || !strings.Contains(text, id) {
		t.Errorf("a second one: %d %s", status, text)
	}
	if open := told[wire.Consolidation](s, "consolidate", "status"); open.ID != id {
		t.Errorf("the command line sees %+v", open)
	}
	s.does("--remote", w.url, "consolidate", "end", id)
	result := w.tool("consolidation_begin", map[string]any{"run": "by-tool"})
	var began wire.Consolidation
	if b, err := json.Marshal(result.StructuredContent); err != nil || json.Unmarshal(b, &began) != nil || began.Snapshot == "" {
		t.Fatalf("the tool says %+v, %v", result.StructuredContent, err)
	}
	w.tool("consolidation_end", map[string]any{"id": began.ID})
	must.Equal(t, "status", s.exit("consolidate", "status"), "exit 3")
}

// finding is what the doctor says about one thing.
func (s *setting) finding(code string) wire.Finding {
	s.Helper()
	out, _, _ := s.amber("", "--json", "doctor")
	var report wire.Checkup
	must.Do(s, json.Unmarshal([]byte(out), &report))
	for _, f := range report.Checks {
		if f.Code == code {
			return f
		}
	}
	s.Fatalf("the doctor says nothing about %s", code)
	return wire.Finding{}
}
