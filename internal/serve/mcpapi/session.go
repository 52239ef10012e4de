package mcpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/op"
)

// binding is what sessions that agents start themselves belong to.
const binding = "mcp"

type startArgs struct{ ID, Name, Project, Directory string }

func startSession(ctx context.Context, b *bound, a *op.Call, in startArgs) (answer, error) {
	s, err := b.start(ctx, a, amber.SessionStart{
		ID: amber.SessionID(in.ID), Name: in.Name, Project: b.Identities(in.Project, "").ProjectID, Directory: in.Directory,
	})
	return answer{text: fmt.Sprintf("Session %s is open.", s.ID), data: sessionOf(s), subject: string(s.ID)}, err
}

// start starts a session, or reopens one under the binding it has: hooks and
// agents may speak of the same one.
func (b *bound) start(ctx context.Context, a *op.Call, r amber.SessionStart) (amber.Session, error) {
	r.Binding = binding
	if r.ID != "" {
		switch was, err := a.Store.Sessions.Session(ctx, r.ID); amber.KindOf(err) {
		case "":
			r.Binding = was.Binding
		case amber.KindNotFound:
		default:
			return amber.Session{}, err
		}
	}
	s, err := a.Store.Sessions.StartSession(ctx, r)
	if err == nil {
		b.SetSession(s.ID)
	}
	return s, err
}

// session is a session in an answer. It leaves out the folder the session ran in: the path means nothing on another
// machine, and must not leave this one.
type session struct {
	ID        amber.SessionID `json:"id"`
	Name      string          `json:"name"`
	Project   string          `json:"project,omitempty"`
	StartedAt amber.Time      `json:"started_at"`
	EndedAt   amber.Time      `json:"ended_at,omitzero"`
	Summary   string          `json:"summary,omitempty"`
	Trust     amber.Trust     `json:"trust,omitempty"`
}

func sessionOf(s amber.Session) session {
	return session{s.ID, s.Name, s.Project, s.StartedAt, s.EndedAt, shown.Clip(s.Summary, shown.PageBytes), foreign(s.Trust)}
}

type endArgs struct{ ID, Summary string }

func endSession(ctx context.Context, b *bound, a *op.Call, in endArgs) (answer, error) {
	id, err := b.NeedSession(in.ID)
	if err != nil {
		return answer{}, err
	}
	s, err := a.Store.Names.EndSession(ctx, amber.SessionEnd{ID: id, Summary: in.Summary})
	if err != nil {
		return answer{subject: string(id)}, err
	}
	b.EndSession(id)
	return answer{text: fmt.Sprintf("Session %s has ended.", s.ID), data: sessionOf(s), subject: string(s.ID)}, nil
}

type summaryArgs struct{ Content, ID, Project string }

func saveSummary(ctx context.Context, b *bound, a *op.Call, in summaryArgs) (answer, error) {
	return b.summarize(ctx, a, in.Content, in.Project, in.ID)
}

// summarize keeps the summary of a session as a memory, one per session where
// it is known. It is for the sessions that follow, so its scope is that of the
// project.
func (b *bound) summarize(ctx context.Context, a *op.Call, content, project, named string) (answer, error) {
	r := amber.WriteRequest{
		Kind: amber.SessionSummary, Scope: b.ScopeOf(amber.Identities{ProjectID: project}), Identities: b.Identities(project, named), Content: content,
		Title: "Session summary", Reason: amber.WriteCompactSummary,
	}
	if r.SessionID != "" {
		r.Topic = summaryTopic(r.SessionID)
		if r.ProjectID == "" { // other sessions must not see the summary of a session without a project
			r.Scope = amber.ScopeSession
		}
	}
	return b.write(ctx, a, r)
}

// summaryTopic names the summary of a session. Topics are lower case without
// spaces; an id that is not is hashed, so that no two are taken for one.
func summaryTopic(id amber.SessionID) string {
	s := string(id)
	if s != strings.ToLower(s) || strings.ContainsAny(s, " \t\n") || len(s) > 100 {
		sum := sha256.Sum256([]byte(s))
		s = hex.EncodeToString(sum[:])
	}
	return "session-summary/" + s
}
