package gitobj

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/base/clip"
)

const (
	maxRefs       = 10_000
	maxRefName    = 1024 // bytes
	MaxPackedRefs = 8 << 20
	maxLooseRef   = 4 << 10
	maxRefDepth   = 16 // folders in refs/heads

	headsPrefix = "refs/heads/"
	tagsPrefix  = "refs/tags/"
)

// checkRefName checks the full name of a branch or a tag by the rules of git check-ref-format.
func checkRefName(name string) error {
	rest, isHead := strings.CutPrefix(name, headsPrefix)
	if !isHead {
		var isTag bool
		if rest, isTag = strings.CutPrefix(name, tagsPrefix); !isTag {
			return fmt.Errorf("the ref %q is neither a branch nor a tag", clip.Name(name))
		}
	}
	switch {
	case len(name) > maxRefName, strings.HasSuffix(rest, "."), strings.Contains(rest, ".."), strings.Contains(rest, "@{"),
		strings.Count(rest, "/") >= maxRefDepth, strings.ContainsFunc(rest, isForbiddenInRef):
		return badRefName(name)
	}
	for elem := range strings.SplitSeq(rest, "/") {
		if elem == "" || elem[0] == '.' || strings.HasSuffix(elem, ".lock") {
			return badRefName(name)
		}
	}
	// Git allows a tag of this name, and "refs/heads/HEAD", but takes both for something else.
	if rest == "HEAD" || strings.HasPrefix(rest, "-") {
		return badRefName(name)
	}
	return nil
}

func isForbiddenInRef(r rune) bool {
	return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r)
}

func badRefName(name string) error { return fmt.Errorf("%q is not the name of a ref", clip.Name(name)) }

// isOID reports whether s names an object, by SHA-1 or SHA-256.
func isOID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == "" && strings.Trim(s, "0") != ""
}

// Check checks that the refs can be those of one repository: names, ids, bounds, no two that exclude each
// other.
func (r Refs) Check() error {
	if len(r.Refs) > maxRefs {
		return fmt.Errorf("more than %d refs", maxRefs)
	}
	names := make([]string, 0, len(r.Refs))
	for _, ref := range r.Refs {
		if err := checkRefName(ref.Name); err != nil {
			return err
		}
		if !isOID(ref.OID) || len(ref.OID) != len(r.Refs[0].OID) {
			return fmt.Errorf("the ref %q has no object id", clip.Name(ref.Name))
		}
		names = append(names, ref.Name)
	}
	slices.Sort(names)
	if err := checkNested(names); err != nil {
		return err
	}
	return r.checkHead()
}

// checkNested refuses a name that is there twice or is a folder of another one.
func checkNested(sorted []string) error {
	taken := make(map[string]bool, len(sorted))
	for _, name := range sorted {
		if taken[name] {
			return fmt.Errorf("the ref %q occurs twice", clip.Name(name))
		}
		taken[name] = true
	}
	for _, name := range sorted {
		for i := range len(name) {
			if name[i] == '/' && taken[name[:i]] {
				return fmt.Errorf("the refs %q and %q exclude each other", clip.Name(name[:i]), clip.Name(name))
			}
		}
	}
	return nil
}

func (r Refs) checkHead() error {
	if isOID(r.Head) {
		if r.OID != r.Head || len(r.Refs) > 0 && len(r.OID) != len(r.Refs[0].OID) {
			return errors.New("HEAD is detached and has another commit than it names")
		}
		return nil
	}
	if !strings.HasPrefix(r.Head, headsPrefix) {
		return fmt.Errorf("HEAD is %q, want a branch", clip.Name(r.Head))
	}
	if err := checkRefName(r.Head); err != nil {
		return err
	}
	if r.OID != r.oid(r.Head) {
		return errors.New("HEAD and its branch have different commits")
	}
	return nil
}
