package bundle

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber/internal/base/names"
)

// manifestName is the entry that names the others, in both formats.
const manifestName = "manifest.json"

// The kinds of entries of Amber's format.
const (
	KindDatabase = "database" // db/…
	KindNote     = "note"     // notes/…
	KindGit      = "git"      // git/memdir.bundle
	KindState    = "state"    // state/…
	KindJournal  = "journal"  // journal/…
	KindSource   = "source"   // sources/…
	KindFolder   = "folder"   // an empty folder; its path ends with a slash
)

// roots says what the paths of a kind begin with.
var roots = map[string]string{
	KindDatabase: "db/", KindNote: "notes/", KindGit: "git/", KindState: "state/", KindJournal: "journal/", KindSource: "sources/",
}

// CheckPath checks the path of an entry: slash-separated, below its root, of names that every system can hold a file
// of. One of an empty folder ends with a slash.
func CheckPath(path string) error {
	return names.CheckPath(strings.TrimSuffix(path, "/"))
}

// checkKind checks that an entry of Amber's format lies where its kind belongs.
func checkKind(path, kind string) error {
	if err := CheckPath(path); err != nil {
		return fmt.Errorf("path %q: %v", path, err)
	}
	isFolder := strings.HasSuffix(path, "/")
	root, known := roots[kind]
	switch {
	case isFolder != (kind == KindFolder):
		return fmt.Errorf("path %q of kind %q", path, kind)
	case isFolder && hasRoot(path):
		return nil
	case !known || !strings.HasPrefix(path, root):
		return fmt.Errorf("path %q of kind %q", path, kind)
	}
	return nil
}

func hasRoot(path string) bool {
	for _, root := range roots {
		if strings.HasPrefix(path, root) {
			return true
		}
	}
	return false
}

// takenPaths is a set of paths that can be files of one folder on every system: none twice, none that only case tells from
// another, and nothing below a file.
type takenPaths struct {
	taken map[string]place // by folded path
}

type place struct {
	spelling string
	isFolder bool
}

// add takes a path and the folders above it.
func (n *takenPaths) add(path string) error {
	if n.taken == nil {
		n.taken = map[string]place{}
	}
	whole := strings.TrimSuffix(path, "/")
	if p, ok := n.taken[names.Fold(whole)]; ok {
		return fmt.Errorf("%q is there twice, as %q", path, p.spelling)
	}
	n.taken[names.Fold(whole)] = place{whole, whole != path}
	for i := strings.LastIndexByte(whole, '/'); i > 0; i = strings.LastIndexByte(whole[:i], '/') {
		dir := whole[:i]
		p, ok := n.taken[names.Fold(dir)]
		switch {
		case !ok:
			n.taken[names.Fold(dir)] = place{dir, true}
		case !p.isFolder:
			return fmt.Errorf("%q is below the file %q", path, p.spelling)
		case p.spelling != dir:
			return fmt.Errorf("only case tells %q from %q", dir, p.spelling)
		default:
			return nil // those above it are taken too
		}
	}
	return nil
}
