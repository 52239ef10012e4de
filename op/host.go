package op

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Host is the connection that tools are called over: the agent it is for, and what a call is about that names nothing. Safe for
// concurrent use.
type Host struct {
	Tenant amber.TenantID
	Agent  amber.AgentID
	// Bound is what its caller is bound to, and Default what the server was started with.
	Bound   wire.Bound
	Default amber.Identities
	// Folder returns the project of the folder in which the host runs, where Default names none, and whether the folder claims one that
	// its user has not confirmed; nil: there is no folder.
	Folder  func() (project string, waits bool)
	Timeout time.Duration // of a call

	mu      sync.Mutex
	session amber.SessionID // that this connection started; "" for none
}

// whose is the agent of the connection, as operations about it are asked.
func (h *Host) whose() Whose { return Whose{Tenant: h.Tenant, Agent: h.Agent} }

// Identities returns what is known of where a call comes from that names a project and a session at most.
func (h *Host) Identities(project, session string) amber.Identities {
	return h.Known(amber.Identities{ProjectID: project, SessionID: amber.SessionID(session)})
}

// Known returns what is known of where a call comes from: what it names, else what the connection is about.
func (h *Host) Known(named amber.Identities) amber.Identities {
	ids := h.About()
	ids.SessionID = h.Session(string(named.SessionID))
	ids.ProjectID = cmp.Or(named.ProjectID, ids.ProjectID)
	ids.UserID = cmp.Or(named.UserID, ids.UserID)
	ids.WorkspaceID = cmp.Or(named.WorkspaceID, ids.WorkspaceID)
	return ids
}

// About returns what the connection is about: what its caller is bound to, else what the server was started with.
func (h *Host) About() amber.Identities {
	to, ids := h.Bound, h.Default
	ids.UserID = cmp.Or(to.User, ids.UserID)
	ids.ProjectID = cmp.Or(to.Project, ids.ProjectID)
	if ids.ProjectID == "" && h.Folder != nil {
		ids.ProjectID, _ = h.Folder()
	}
	ids.WorkspaceID = cmp.Or(to.Workspace, ids.WorkspaceID)
	return ids
}

// Waits reports whether the folder of the host claims a project that its user has not confirmed.
func (h *Host) Waits() (waits bool) {
	if h.Folder != nil && h.Bound.Project == "" {
		_, waits = h.Folder()
	}
	return waits
}

// ScopeOf returns the scope of a memory whose call names none: the narrowest identity that the call names, else the project the
// connection is about, else the agent it is bound to. The session a connection started says where a memory comes from and never
// narrows who sees it.
func (h *Host) ScopeOf(named amber.Identities) amber.Scope {
	if named != (amber.Identities{}) {
		return named.Narrowest()
	}
	ids := h.About()
	ids.SessionID = ""
	return ids.Narrowest()
}

// Session returns the session a call is about: the one it names, or the one this connection started.
func (h *Host) Session(named string) amber.SessionID {
	if named != "" {
		return amber.SessionID(named)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session
}

// NeedSession is Session for calls that are about one. The error is of kind invalid.
func (h *Host) NeedSession(named string) (amber.SessionID, error) {
	id := h.Session(named)
	if id == "" {
		return "", amber.Errorf(amber.KindInvalid, "find session", "", "no session was started here, so id is required").
			WithHint("call session_start and give the id it returns")
	}
	return id, amber.CheckID("session id", string(id))
}

// SetSession notes the session that the connection has started.
func (h *Host) SetSession(id amber.SessionID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.session = id
}

// EndSession forgets a session that the connection has started.
func (h *Host) EndSession(id amber.SessionID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session == id {
		h.session = ""
	}
}

// Begun is the context of changes that belong together, once the first is made: a caller that leaves then does not leave half of
// them behind.
func (h *Host) Begun(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), h.Timeout)
}
