package wire

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
)

// WaitingFolder is a folder of the machine of a home that claims a project and is not given it until the owner of the
// home confirms the claim.
type WaitingFolder struct {
	Place   string     `json:"place"`   // the path that the home knows the folder by
	Project string     `json:"project"` // that the folder has meanwhile
	Asks    string     `json:"asks"`    // the project that it claims
	Folders []string   `json:"folders"` // those that have that project
	At      amber.Time `json:"at"`
}

// FolderTrust confirms what a folder claims.
type FolderTrust struct {
	Place string `json:"place"`
	Asks  string `json:"asks"` // as it was shown: another claim is a conflict
}

// Check checks the request. The error is of kind invalid.
func (t FolderTrust) Check() error {
	return cmp.Or(amber.CheckText("place", t.Place, 4096, amber.Required|amber.OneLine), amber.CheckID("project id", t.Asks))
}

// TrustedFolder is a folder whose claim was confirmed, and how much of what was said there joined the project.
type TrustedFolder struct {
	Place    string `json:"place"`
	Project  string `json:"project"`
	Memories int    `json:"memories"`
	Sessions int    `json:"sessions"`
}

// FolderKeeper knows which folders wait for the owner. Safe for concurrent use.
type FolderKeeper interface {
	// WaitingFolders lists them.
	WaitingFolders(ctx context.Context) ([]WaitingFolder, error)
	// TrustFolder gives a folder what it asks for, with what was said there. Errors: invalid; conflict where the
	// folder does not ask for that, or is not what it was.
	TrustFolder(ctx context.Context, t FolderTrust) (TrustedFolder, error)
}
