package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/wire"
)

// OccasionOf says when the context in the answer to an event comes before the agent.
func OccasionOf(ev journal.HostEvent) wire.Occasion {
	switch ev.Kind {
	case journal.HostPrompt:
		return wire.OccasionPrompt
	case journal.HostCompactAfter:
		return wire.OccasionCompaction
	}
	return wire.OccasionStart
}

// Shown is the event that the context in the answer to ev was put before the agent. It
// names the passages and holds none of their text.
func Shown(ev journal.HostEvent, items []wire.ContextItem) journal.HostEvent {
	parts := []string{"amber context 1", ev.Host, string(ev.SessionID), ev.EventID, strconv.FormatInt(ev.ObservedAt.UnixMilli(), 10)}
	return journal.HostEvent{
		Schema: journal.HostEventSchema, EventID: digest(parts...), Native: true, Host: ev.Host, Kind: journal.HostContext, SessionID: ev.SessionID,
		Directory: ev.Directory, Project: ev.Project, ObservedAt: ev.ObservedAt, Process: ev.Process, Shown: items[:min(len(items), wire.MaxKnown)],
	}
}

// ShownBefore returns what was put before the agent of a session since its last
// compaction, as far as the journal still holds it: what is drained is in the store.
// An entry that cannot be read is passed over. Errors: those of [journal.Journal.Look].
func ShownBefore(ctx context.Context, j *journal.Journal, s journal.Session) ([]wire.ContextItem, error) {
	var out []wire.ContextItem
	_, err := j.Look(ctx, s.Key(), func(f journal.Frame) error {
		if f.Type != journal.TypeEvent || !hasKind(f.Payload, journal.HostContext) && !hasKind(f.Payload, journal.HostCompactBefore) && !hasKind(f.Payload, journal.HostCompactAfter) {
			return nil
		}
		var ev struct {
			Kind  journal.EventKind  `json:"kind"`
			Shown []wire.ContextItem `json:"shown"`
		}
		if json.Unmarshal(f.Payload, &ev) != nil {
			return nil
		}
		switch ev.Kind {
		case journal.HostContext:
			out = append(out, ev.Shown...)
		case journal.HostCompactBefore, journal.HostCompactAfter:
			out = nil
		}
		return nil
	})
	return out[max(0, len(out)-wire.MaxKnown):], err
}

// hasKind reports whether a payload may be an event of a kind, without reading all of it.
func hasKind(payload []byte, k journal.EventKind) bool {
	return bytes.Contains(payload, []byte(`"kind":"`+string(k)+`"`))
}
