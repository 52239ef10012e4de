package wire

import "github.com/amber-memory/amber"

// A hook asks a process that has the store open for context, over a socket that only
// processes of the user reach: the server of its home, or the process that drains the journal
// of its agent. One request, one answer: HTTP with JSON, POST NearPath.

// NearSocket is the name of the server's socket in the home, and NearPath what is asked for
// at each.
const (
	NearSocket = "serve.sock"
	NearPath   = "/context"
)

// Bounds of what goes over the socket.
const (
	MaxNearRequest = 2 << 20
	MaxNearAnswer  = 2 << 20
)

// NearRequest asks for the context of an agent.
type NearRequest struct {
	// Build and Settings have to be those of the process that is asked: a hook of another
	// version, or with other settings, opens the store itself.
	Build    string         `json:"build"`
	Settings string         `json:"settings"` // a digest of those that context depends on
	Tenant   amber.TenantID `json:"tenant"`
	Agent    amber.AgentID  `json:"agent"`
	BudgetMS int64          `json:"budget_ms"` // 1 to 60000
	Request  ContextRequest `json:"request"`
}

// NearAnswer is what a hook needs of a [ContextBlock].
type NearAnswer struct {
	Text     string        `json:"text"`
	Items    []ContextItem `json:"items,omitempty"`
	Degraded string        `json:"degraded,omitempty"`
	Late     bool          `json:"late,omitempty"`
	Error    string        `json:"error,omitempty"` // why there is no answer; the others are empty
}
