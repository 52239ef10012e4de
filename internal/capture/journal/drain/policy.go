package drain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// Learnt is a decision of the policy about something that could be learnt.
type Learnt struct {
	amber.Decision
	Lesson    amber.Lesson    `json:"lesson"`
	SessionID amber.SessionID `json:"session_id"`
	EventID   string          `json:"event_id,omitempty"` // "" for a session whose end was noticed
	// Text begins what would be learnt, so that a reader knows which.
	Text string `json:"text,omitempty"`
}

// learntText bounds the text of a decision in bytes.
const learntText = 120

// learns asks the policy about what a rule has found and returns what is kept.
func (w *Worker) learns(lesson amber.Lesson, id amber.SessionID, event string, found []amber.WriteRequest, report *Report) []amber.WriteRequest {
	var kept []amber.WriteRequest
	for _, r := range found {
		in := amber.WriteBackInput{Lesson: lesson, Found: &r, Succeeded: true, Identities: r.Identities}
		req, d := w.o.Policy.WriteBack(in)
		w.explain(report, Learnt{Decision: d, Lesson: lesson, SessionID: id, EventID: event, Text: clip.Bytes(clip.Printed(r.Content), learntText)})
		if d.Effective {
			kept = append(kept, req)
		}
	}
	return kept
}

func (w *Worker) explain(report *Report, l Learnt) {
	if w.o.Explain {
		report.Decisions = append(report.Decisions, l)
	}
}

// decide lets the policy decide about everything that an event could teach.
func (s *session) decide(ctx context.Context, it *item) error {
	ev := it.event
	it.step.Memories = s.learns(amber.LessonLearning, ev.SessionID, ev.EventID, it.step.Memories, s.report)
	if ev.Kind == journal.HostPrompt {
		s.goal = ev.Prompt
	}
	if c := it.step.Compaction; c != nil {
		kept := s.learns(amber.LessonDigest, ev.SessionID, ev.EventID, []amber.WriteRequest{compacted(ev, *c)}, s.report)
		it.step.Memories = append(it.step.Memories, kept...)
	}
	if ev.Kind != journal.HostTurnEnd && ev.Kind != journal.HostError {
		return nil
	}
	in := amber.WriteBackInput{
		Lesson: amber.LessonCase, RequestID: clip.Bytes(clip.Printed(ev.TurnID), amber.MaxIDBytes), Goal: plain(text(ev.Prompt)), Response: plain(text(ev.Answer)), Succeeded: ev.Kind == journal.HostTurnEnd,
		Identities: amber.Identities{SessionID: ev.SessionID, ProjectID: ev.Project},
	}
	if in.Response == "" {
		return nil // the host told nothing of it
	}
	req, d, err := s.decideCase(ctx, in)
	if err != nil {
		return err
	}
	s.explain(s.report, Learnt{Decision: d, Lesson: in.Lesson, SessionID: ev.SessionID, EventID: ev.EventID, Text: clip.Bytes(clip.Printed(in.Response), learntText)})
	if d.Effective {
		it.step.Memories = append(it.step.Memories, req)
	}
	return nil
}

// compacted is the summary of turns as a memory, the newest of its session.
func compacted(ev journal.HostEvent, c amber.Compaction) amber.WriteRequest {
	sum := sha256.Sum256([]byte("compaction\x00" + ev.Host + "\x00" + string(ev.SessionID)))
	return amber.WriteRequest{
		Kind: amber.SessionSummary, Scope: scopeOf(ev.Project), Identities: amber.Identities{SessionID: ev.SessionID, ProjectID: ev.Project},
		Title: clip.Bytes("Summary of session "+clip.Printed(string(ev.SessionID)), amber.MaxTitleBytes), Content: plain(c.Summary),
		Topic: "compaction " + hex.EncodeToString(sum[:16]), Tags: []string{"compaction"},
		SourceRefs: []amber.SourceRef{{Kind: "session", Value: string(ev.SessionID)}, {Kind: "event", Value: ev.EventID}},
		Trust:      amber.TrustDerived, Reason: amber.WriteCompactSummary,
	}
}

// decideCase asks the policy about a turn. It looks up the goal and the loop only when
// the policy would keep the turn without them.
func (s *session) decideCase(ctx context.Context, in amber.WriteBackInput) (amber.WriteRequest, amber.Decision, error) {
	asked := in
	if asked.Goal == "" {
		asked.Goal = "not known yet"
	}
	if req, d := s.o.Policy.WriteBack(asked); !d.Effective {
		return req, d, nil
	}
	var err error
	if in.Goal == "" {
		if in.Goal, err = s.lastPrompt(ctx, in.SessionID); err != nil {
			return amber.WriteRequest{}, amber.Decision{}, err
		}
	}
	if s.o.Loops != nil {
		_, err := s.o.Loops.LoadLoop(ctx, in.SessionID)
		if kind := amber.KindOf(err); err != nil && kind != amber.KindNotFound && kind != amber.KindUnsupported {
			return amber.WriteRequest{}, amber.Decision{}, err
		}
		in.PendingLoopActive = err == nil
	}
	req, d := s.o.Policy.WriteBack(in)
	return req, d, nil
}

// goalTurns is how many turns are looked at for the prompt of an answer.
const goalTurns = 50

// lastPrompt returns what the user asked last: in this drain, or before it.
func (s *session) lastPrompt(ctx context.Context, id amber.SessionID) (string, error) {
	if s.goal != "" {
		return plain(text(s.goal)), nil
	}
	turns, err := amber.LastTurns(ctx, s.o.Store, id, goalTurns)
	goal := ""
	for _, t := range turns {
		if t.Role == amber.RoleUser && t.Trust != amber.TrustImported {
			goal = t.Content
		}
	}
	return plain(goal), err
}
