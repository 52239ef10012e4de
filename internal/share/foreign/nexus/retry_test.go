package nexus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/share/foreign/nexus"
	"github.com/amber-memory/amber/internal/test/must"
)

// artifact is what nexus-memory-hooks writes of an event that it could not store.
const artifact = `{
  "agent": "claude-code",
  "event_name": "post-tool-use",
  "normalized_event": {
    "agent": "claude-code",
    "event_name": "post-tool-use",
    "observed_at": "2026-01-02T03:00:04.123456789Z",
    "session_id": "s-1",
    "turn_id": null,
    "cwd": "/src/shop",
    "tool_name": "Bash",
    "tool_input": {"command": "make deploy"},
    "tool_response_text": "deployed",
    "assistant_message_text": "The deployment is done.",
    "user_message_text": "Please deploy the shop",
    "raw_payload": {"session_id": "s-1"}
  },
  "candidates": [{"candidate_id": "c-1", "signal_score": 0.8, "memory_text": "Deployments of the shop go through make deploy", "evidence": {}, "labels": []}],
  "error": "the model did not answer",
  "created_at": "2026-01-02T03:00:05+00:00"
}`

func readRetry(t *testing.T, file string) (nexus.Report, []journal.HostEvent) {
	t.Helper()
	var all []journal.HostEvent
	clock := func() time.Time { return time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC) }
	report := must.Get(nexus.Read(strings.NewReader(file), nexus.Options{Clock: clock, Project: "acme/shop"}, func(ev journal.HostEvent) error {
		all = append(all, ev)
		return nil
	}))(t)
	return report, all
}

func TestRetryArtifactsAreRead(t *testing.T) {
	t.Parallel()
	report, all := readRetry(t, artifact)
	must.Equal(t, "entries", report.Entries, 1)
	must.Equal(t, "whole ones", report.Salvaged, 1)
	must.Equal(t, "events", len(all), 5)
	must.Equal(t, "what was asked", all[0].Prompt, "Please deploy the shop")
	must.Equal(t, "when", all[0].NativeAt.String(), "2026-01-02T03:00:04.123Z")
	must.Equal(t, "what was answered", all[1].Answer, "The deployment is done.")
	must.Equal(t, "what was run", all[2].Tool.Command, "make deploy")
	must.Equal(t, "what was learnt", all[3].Answer, "## Key Insights\n- Deployments of the shop go through make deploy")
	must.Says(t, "the rest", string(all[4].Raw), "deployed", "the model did not answer", "/src/shop")
	ids := map[string]bool{}
	for _, ev := range all {
		must.Equal(t, "host", ev.Host, "claude-code")
		must.Equal(t, "session", string(ev.SessionID), "s-1")
		must.Equal(t, "project", ev.Project, "acme/shop")
		ids[ev.EventID] = true
	}
	must.Equal(t, "ids", len(ids), len(all))
	_, again := readRetry(t, artifact)
	must.Equal(t, "events of a second time", again, all)
}

// TestTornRetryArtifactsGiveWhatComesBefore: nexus writes them in place.
func TestTornRetryArtifactsGiveWhatComesBefore(t *testing.T) {
	t.Parallel()
	_, whole := readRetry(t, artifact)
	for n := strings.Index(artifact, `"normalized_event"`) + 30; n < len(artifact); n++ {
		report, all := readRetry(t, artifact[:n])
		must.Hold(t, report.Truncated && report.Entries == 1, "cut at %d: %+v", n, report)
		if n > strings.Index(artifact, `"candidates"`) {
			must.Equal(t, "what was asked", all[0].EventID, whole[0].EventID)
		}
	}
}
