// Package gitobj takes the history of a git repository apart into objects and refs, and builds repositories from them.
//
//	[ReadRefs]          branches and tags from their files, without git: quick enough for the time the writers stand still
//	[Pin]               keeps what the refs need from a git gc meanwhile; the one thing that is ever written
//	[Objects]           every object that some refs need and others do not, each checked by its id
//	[Build]             a new repository of objects and refs, which trusts neither
//	[Connected]         the same, thrown away: is this a whole history?
//	[Compare]           what happened between two commits, from objects alone
//	[WriteGitPack]      a history as one file that git clone reads; [ReadGitPack] and [BuildFromGitPack] read it
//	[RawRefs], [RawObjects], [WriteRaw]  a repository that lies somewhere as plain files
//
// The repository may be anybody's, and is only read. One without a part of its history (a shallow clone, a partial one
// that lacks objects), one that borrows objects of another, a linked work tree and one that keeps its refs in tables are
// unsupported.
//
// A git pack is the file that git bundle writes. Amber calls it so because its own sealed file is the bundle.
package gitobj

import (
	"time"

	"github.com/amber-memory/amber"
)

// The author of Amber's commits, and the branch they are on.
const (
	MainBranch = "refs/heads/main"
	Author     = "Amber"
	Email      = "amber@localhost"

	HeadContent = "ref: " + MainBranch + "\n" // of the file HEAD
)

const (
	filePerm = 0o600
	dirPerm  = 0o700
	maxHead  = 4 << 10 // of the file HEAD
)

// UnixSeconds is the date of a commit: git has no dates before 1970.
func UnixSeconds(t time.Time) int64 { return max(t.Unix(), 0) }

// amberError is an [amber.Error] without a subject.
func amberError(k amber.Kind, op string, err error) error {
	return &amber.Error{Op: op, Kind: k, Err: err}
}

// wrap names the operation; the kind stays that of err.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return &amber.Error{Op: op, Kind: amber.KindOf(err), Err: err}
}
