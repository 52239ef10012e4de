package notes

import (
	"context"
	"encoding/hex"
	"strings"

	"github.com/amber-memory/amber/internal/base/gitobj"
)

// maxRef bounds the file of the branch, which holds one commit.
const maxRef = 4 << 10

// Head returns the commit that the branch ends with; "" before the first one. It reads a file or two, so that it may be asked before
// every question. Errors: damaged.
func (d *Dir) Head(ctx context.Context) (head string, err error) {
	err = d.read(ctx, func(r *repo) error {
		head, err = r.head()
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
	if text == nil {
		packed, err := r.readGitFile(packedRefs, gitobj.MaxPackedRefs)
		if err != nil {
			return "", err
		}
		if commit = packedRef(string(packed), branch); commit == "" {
			return "", nil
		}
	}
	if !isCommit(commit) {
		return "", untrusted("%s holds no commit", branch)
	}
	return commit, nil
}

// packedRefs is where git keeps refs that it gives no file of their own.
const packedRefs = "packed-refs"

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
