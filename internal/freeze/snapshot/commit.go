package snapshot

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
)

// maxCommitText bounds the subject and the author of a commit in a manifest.
const maxCommitText = 500

// commitOf returns what the commit of HEAD says of itself where raw is that commit, and else what is known.
func commitOf(g *repo.GitEntry, oid string, raw []byte) *wire.GitCommit {
	if oid != g.HeadOID {
		return g.Commit
	}
	c, err := gitobj.ReadCommit(oid, raw)
	if err != nil {
		return nil // verify says so
	}
	return &wire.GitCommit{Subject: commitText(c.Subject), Author: commitText(c.Author), At: amber.At(time.Unix(c.Written, 0))}
}

// commitText is a text of a commit as a manifest has it: one line of UTF-8 that is not too long.
func commitText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return clip.Bytes(s, maxCommitText)
}

// errFound ends a walk at what was looked for.
var errFound = errors.New("found")

// lookUp reads the commit of HEAD where nothing has said it: HEAD went back to a commit that an earlier snapshot holds.
func lookUp(ctx context.Context, o gitobj.Options, g *repo.GitEntry) error {
	if g.HeadOID == "" || g.Commit != nil {
		return nil
	}
	err := gitobj.Objects(ctx, o, gitobj.Refs{Head: g.HeadOID, OID: g.HeadOID}, gitobj.Refs{}, func(oid string, raw []byte) error {
		if oid != g.HeadOID {
			return nil
		}
		g.Commit = commitOf(g, oid, raw)
		return errFound
	})
	if errors.Is(err, errFound) {
		return nil
	}
	return err
}
