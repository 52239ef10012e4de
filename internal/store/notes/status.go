package notes

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitrun"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// status is what the folder, the index and the branch disagree on.
type status struct {
	head  string            // the commit of the branch; "" before the first
	files map[string]*entry // by path, only those with a difference
}

// entry is what branch and index say about one path: ids of blobs, "" where they know no regular file.
type entry struct {
	head, index string
	inHead      bool // as whatever
}

// status asks git. Git looks at the time and size of a file and reads it only when those changed, so status is cheap
// with thousands of notes. Errors: damaged, conflict while a person is in the middle of a merge.
func (r *repo) status(ctx context.Context) (status, error) {
	known, err := r.vetBranch()
	if err != nil {
		return status{}, err
	}
	out, err := r.runStatus(ctx)
	if errors.Is(err, gitrun.ErrExit) {
		// The index is a cache: without it git goes by the branch and the files.
		if rerr := fsx.Remove(r.fsys, r.gitPath("index")); rerr != nil {
			return status{}, errors.Join(err, rerr)
		}
		out, err = r.runStatus(ctx)
	}
	if errors.Is(err, gitrun.ErrExit) {
		return status{}, damagedRepo(err)
	}
	if err != nil {
		return status{}, err
	}
	st, err := parseStatus(string(out))
	if err == nil && known && st.head == "" {
		err = damagedRepo(errors.New("the branch main cannot be read"))
	}
	return st, err
}

// runStatus names the ignored files too, since no ignore rule applies to notes, and stays out of repositories inside
// the folder, which Amber has not vetted.
func (r *repo) runStatus(ctx context.Context) ([]byte, error) {
	return r.run(ctx, nil, "status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--no-ahead-behind",
		"--untracked-files=all", "--ignored=traditional", "--ignore-submodules=all")
}

// vetBranch reports whether there was a commit. It refuses a repository that lost its branch: the index is written
// after the first commit, so there cannot be one without the other, and going on would begin a new history.
func (r *repo) vetBranch() (known bool, err error) {
	known, err = r.hasBranch()
	if known || err != nil {
		return known, err
	}
	_, err = r.fsys.Lstat(r.gitPath("index"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err == nil:
		err = damagedRepo(errors.New("the branch main is gone"))
	}
	return false, err
}

func damagedRepo(err error) error { return notefile.Damaged(err) }

// parseStatus reads the version 2 format of git status.
func parseStatus(out string) (status, error) {
	st := status{files: map[string]*entry{}}
	for record := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		kind, rest, _ := strings.Cut(record, " ")
		switch kind {
		case "#":
			if oid, found := strings.CutPrefix(rest, "branch.oid "); found && oid != "(initial)" {
				st.head = oid
			}
		case "?", "!":
			st.at(rest)
		case "1":
			// XY sub mH mI mW hH hI path
			f := strings.SplitN(rest, " ", 8)
			if len(f) != 8 {
				return status{}, errors.New("git status answers in an unknown form")
			}
			e := st.at(f[7])
			e.inHead = f[2] != "000000"
			e.head, e.index = blobOf(f[2], f[5]), blobOf(f[3], f[6])
		case "u":
			return status{}, amberError(amber.KindConflict, "check the repository of the notes",
				errors.New("a git merge is not finished"), "git merge --abort")
		default:
			return status{}, errors.New("git status answers in an unknown form")
		}
	}
	return st, nil
}

func (st status) at(path string) *entry {
	e := st.files[path]
	if e == nil {
		e = &entry{}
		st.files[path] = e
	}
	return e
}

// blobOf returns id when the mode is that of a regular file.
func blobOf(mode, id string) string {
	if strings.HasPrefix(mode, "100") {
		return id
	}
	return ""
}
