package wire

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/amber-memory/amber"
)

// Bound is what a caller is bound to: of each identity that it names the caller reaches
// this one alone. An identity that it does not name stays open. The zero value binds
// nothing.
type Bound struct {
	User      string `json:"user_id,omitempty"`
	Project   string `json:"project_id,omitempty"`
	Workspace string `json:"workspace_id,omitempty"`
}

// None reports whether nothing is bound.
func (b Bound) None() bool { return b == Bound{} }

// Identities returns what is bound as identities.
func (b Bound) Identities() amber.Identities {
	return amber.Identities{UserID: b.User, ProjectID: b.Project, WorkspaceID: b.Workspace}
}

// Check checks the names. The error is of kind invalid.
func (b Bound) Check() error {
	return cmp.Or(
		amber.CheckOptionalID("user id", b.User),
		amber.CheckOptionalID("project id", b.Project),
		amber.CheckOptionalID("workspace id", b.Workspace),
	)
}

// String says in words what is bound: "user bob, project shop"; "" for nothing.
func (b Bound) String() string {
	var words []string
	for _, s := range []amber.Scope{amber.ScopeUser, amber.ScopeProject, amber.ScopeWorkspace} {
		if id := b.Identities().For(s); id != "" {
			words = append(words, string(s)+" "+id)
		}
	}
	return strings.Join(words, ", ")
}

// Key returns the key under which a request of a bound caller is remembered: callers with other bounds do not share one. A key that is not
// valid stays what it is, to be refused.
func (b Bound) Key(key string) string {
	if b.None() || key == "" || amber.CheckID("idempotency key", key) != nil {
		return key
	}
	h := sha256.New()
	for _, part := range []string{"amber bound key 1", b.User, b.Project, b.Workspace, key} {
		sum := sha256.Sum256([]byte(part))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
