package op

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/guard/shown"
)

// toolBinding is what sessions that agents start themselves belong to.
const toolBinding = "mcp"

// SessionShows are the fields of a session in output schemas.
const SessionShows = "id name project started_at ended_at"

// SessionPage is a session in an answer. It leaves out the folder the session ran in: the path means nothing on another machine,
// and must not leave this one.
type SessionPage struct {
	ID        amber.SessionID `json:"id"`
	Name      string          `json:"name"`
	Project   string          `json:"project,omitempty"`
	StartedAt amber.Time      `json:"started_at"`
	EndedAt   amber.Time      `json:"ended_at,omitzero"`
	Summary   string          `json:"summary,omitempty"`
	Trust     amber.Trust     `json:"trust,omitempty"`
}

// SessionPageOf makes the answer of a session.
func SessionPageOf(s amber.Session) SessionPage {
	return SessionPage{s.ID, s.Name, s.Project, s.StartedAt, s.EndedAt, clip.Marked(s.Summary, shown.PageBytes), foreign(s.Trust)}
}

type sessionStartArgs struct {
	ID        string `json:"id" doc:"default: a new one"`
	Name      string `json:"name"`
	Project   string `json:"project" doc:"default: current"`
	Directory string `json:"directory"`
}

var sessionStart = NewTool(Tool{
	Op: SessionStart.Row, Name: "session_start", Title: "Start a session", Shows: SessionShows,
	Use: "Start or reopen a session; what you save then belongs to it. Not needed with hooks.",
}, func(ctx context.Context, c *Call, in sessionStartArgs) (SessionPage, string, error) {
	return c.StartSession(ctx, amber.SessionStart{ID: amber.SessionID(in.ID), Name: in.Name, Project: in.Project, Directory: in.Directory})
})

// StartSession starts a session, or reopens one under the binding it has: hooks and agents may speak of the same one.
func (c *Call) StartSession(ctx context.Context, r amber.SessionStart) (SessionPage, string, error) {
	r.Binding, r.Project = toolBinding, c.Host.Identities(r.Project, "").ProjectID
	if r.ID != "" {
		switch was, err := c.Store.Sessions.Session(ctx, r.ID); amber.KindOf(err) {
		case "":
			r.Binding = was.Binding
		case amber.KindNotFound:
		default:
			return SessionPage{}, "", err
		}
	}
	s, err := SessionStart.Call(ctx, c, SessionStartIn{r})
	if err == nil {
		c.Host.SetSession(s.ID)
	}
	return SessionPageOf(s), fmt.Sprintf("Session %s is open.", s.ID), err
}

type sessionEndArgs struct {
	ID      string `json:"id" doc:"default: yours"`
	Summary string `json:"summary"`
}

var sessionEnd = NewTool(Tool{
	Op: SessionEnd.Row, Name: "session_end", Title: "End a session", Use: "End the session when the work is done.", Hints: Again, Shows: SessionShows,
}, func(ctx context.Context, c *Call, in sessionEndArgs) (SessionPage, string, error) {
	return c.EndSession(ctx, in.ID, in.Summary)
})

// EndSession ends a session, "" for the one the connection started.
func (c *Call) EndSession(ctx context.Context, named, summary string) (SessionPage, string, error) {
	id, err := c.Host.NeedSession(named)
	if err != nil {
		return SessionPage{}, "", err
	}
	c.Subject = string(id)
	s, err := c.Store.Names.EndSession(ctx, amber.SessionEnd{ID: id, Summary: summary})
	if err == nil {
		c.Host.EndSession(id)
	}
	return SessionPageOf(s), fmt.Sprintf("Session %s has ended.", s.ID), err
}

type sessionSummaryArgs struct {
	Content string `json:"content" need:"yes"`
	ID      string `json:"id"`
	Project string `json:"project" doc:"default: current"`
}

var sessionSummary = NewTool(Tool{
	Op: MemoryWrite.Row, Name: "session_summary", Title: "Save a session summary", Hints: Again, Shows: "id session revision",
	Use: "Before you finish or context is compacted: goal, what was done and decided, what is open.",
}, func(ctx context.Context, c *Call, in sessionSummaryArgs) (Saved, string, error) {
	return c.Summarize(ctx, in.Content, in.Project, in.ID)
})

// Summarize keeps the summary of a session as a memory, one per session where it is known. It is for the sessions that follow, so
// its scope is that of the project.
func (c *Call) Summarize(ctx context.Context, content, project, session string) (Saved, string, error) {
	r := amber.WriteRequest{
		Kind: amber.SessionSummary, Scope: c.Host.ScopeOf(amber.Identities{ProjectID: project}), Identities: c.Host.Identities(project, session), Content: content,
		Title: "Session summary", Reason: amber.WriteCompactSummary,
	}
	if r.SessionID != "" {
		r.Topic = summaryTopic(r.SessionID)
		if r.ProjectID == "" { // other sessions must not see the summary of a session without a project
			r.Scope = amber.ScopeSession
		}
	}
	return c.Save(ctx, r)
}

// summaryTopic names the summary of a session. Topics are lower case without spaces; an id that is not is hashed, so that no two are
// taken for one.
func summaryTopic(id amber.SessionID) string {
	s := string(id)
	if s != strings.ToLower(s) || strings.ContainsAny(s, " \t\n") || len(s) > 100 {
		sum := sha256.Sum256([]byte(s))
		s = hex.EncodeToString(sum[:])
	}
	return "session-summary/" + s
}
