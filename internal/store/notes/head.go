package notes

import (
	"context"
	"encoding/hex"
	"strings"

	"github.com/amber-memory/amber/internal/base/gitobj"
)

// maxRef bounds the file of the branch, which holds one commit.
const maxRef = 4 << 10

// Head returns the commit that the branch ends with; "" before the first one. It reads a file or two and
// starts no git, so that it may be asked before every question. Errors: damaged.
func (d *Dir) Head(ctx context.Context) (head string, err error) {
	err = d.guard.Read(ctx, func(dir string) error {
		head, err = d.repoAt(dir).head()
		return err
	})
	return head, wrap("read the branch of the notes", "", err)
}

// head reads the commit of the branch from its file, or from where git packs refs.
func (r *repo) head() (string, error) {
	text, err := r.readGitFile(branch, maxRef)
	if err != nil {
		return "", err
	}
	commit := strings.TrimSpace(string(text))
	if commit == "" {
		packed, err := r.readGitFile("packed-refs", gitobj.MaxPackedRefs)
		if err != nil {
			return "", err
		}
		commit = packedRef(string(packed), branch)
	}
	if commit != "" && !isCommit(commit) {
		return "", untrusted("%s holds no commit", branch)
	}
	return commit, nil
}

// packedRef returns the commit of a ref in a packed-refs file; "" where it is not there.
func packedRef(packed, ref string) string {
	for line := range strings.Lines(packed) {
		if commit, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == ref {
			return commit
		}
	}
	return ""
}

// isCommit reports whether a text is the id of an object.
func isCommit(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == len(gitobj.ZeroOID)
}
