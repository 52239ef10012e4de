package drain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/recall/contextblock"
)

// meaning says what the store makes of an event.
func meaning(ev journal.HostEvent) amber.IngestStep {
	id := ev.SessionID
	ev.Prompt = contextblock.Cut(ev.Prompt) // not every event comes from a hook of this version
	step := amber.IngestStep{
		Event: amber.EventRef{ID: ev.EventID, Native: ev.Native, At: ev.ObservedAt},
		At:    ev.ObservedAt,
		Start: amber.SessionStart{
			ID: id, Binding: ev.Host, Project: ev.Project, Directory: clip.Bytes(clip.Printed(ev.Directory), 4096), Parent: ev.ParentSession,
		},
		Reopen:   ev.Kind == journal.HostSessionStart || ev.Kind == journal.HostPrompt,
		Turns:    turns(ev),
		Activity: activity(ev),
		Memories: learnings(ev),
	}
	switch ev.Kind {
	case journal.HostCompactAfter:
		if text := text(ev.Message); text != "" {
			step.Compaction = &amber.Compaction{ID: derivedID(ev, "compaction"), SessionID: id, Summary: text, CreatedAt: ev.ObservedAt}
		}
	case journal.HostSessionEnd:
		step.End = &amber.SessionEnd{ID: id, Reason: amber.EndReason(clip.Bytes(clip.Printed(ev.Reason), amber.MaxIDBytes))}
	}
	return step
}

// gapStep says what the store makes of entries the journal had no room for.
func gapStep(g journal.Gap, at amber.Time, host string, id amber.SessionID) amber.IngestStep {
	return amber.IngestStep{
		At:    at,
		Start: amber.SessionStart{ID: id, Binding: host},
		Activity: []amber.Activity{{
			SessionID: id, Kind: amber.ActivityGap, Name: name(g.About, "entries"),
			Detail: fmt.Sprintf("%d bytes were dropped: the journal was full", g.DroppedBytes), FirstAt: at, LastAt: at,
		}},
	}
}

// turns returns what was said, without the words of a subagent: they belong to its run.
func turns(ev journal.HostEvent) []amber.Turn {
	if ev.Kind == journal.HostSubagentEnd || ev.Kind == journal.HostSubagentStart {
		return nil
	}
	var out []amber.Turn
	for _, said := range []struct {
		role    amber.Role
		content string
	}{{amber.RoleUser, ev.Prompt}, {amber.RoleAssistant, ev.Answer}} {
		if content := text(said.content); content != "" {
			out = append(out, amber.Turn{
				ID: turnID(ev, said.role, content), SessionID: ev.SessionID, Role: said.role,
				Content: content, ProjectID: ev.Project, CreatedAt: ev.ObservedAt,
			})
		}
	}
	return out
}

// turnID names what was said. A host may report one prompt in two events, when
// it is typed and when it was answered; then it is one turn.
func turnID(ev journal.HostEvent, role amber.Role, content string) amber.TurnID {
	if role == amber.RoleUser && ev.TurnID != "" {
		sum := sha256.Sum256(fmt.Appendf(nil, "amber prompt 1\x00%s\x00%s\x00%s\x00%s", ev.Host, ev.SessionID, ev.TurnID, content))
		return amber.TurnID(hex.EncodeToString(sum[:16]))
	}
	return amber.TurnID(derivedID(ev, string(role)))
}

// derivedID names something that an event becomes. The same event always
// gives the same id. Without native ids the same words may be said again, so
// the time is part of it.
func derivedID(ev journal.HostEvent, what string) string {
	at := int64(0)
	if !ev.Native {
		at = ev.ObservedAt.UnixMilli()
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "amber derived 1\x00%s\x00%d\x00%s", ev.EventID, at, what))
	return hex.EncodeToString(sum[:16])
}
