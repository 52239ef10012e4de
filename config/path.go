package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxPathBytes = 4096
	// maxPaths bounds a list of paths. A folder is one of them, so a longer
	// list is a mistake.
	maxPaths = 256
)

// validPath reports whether s is a path that means the same wherever a command
// is run, and that can be shown.
func validPath(s string) bool {
	return len(s) <= maxPathBytes && filepath.IsAbs(s) && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) &&
		strings.TrimSpace(s) == s
}

// parsePath checks one path of a key and cleans it.
func (k Key) parsePath(text string) (string, error) {
	path := filepath.Clean(text)
	if text == "" || !validPath(path) {
		return "", k.wrongElement(quote(text))
	}
	return path, nil
}

// isBucket tells the URL of a bucket from a path. Who opens it reads it; here it
// must be one line, and no place for secrets.
func isBucket(s string) bool {
	scheme, rest, _ := strings.Cut(s, ":")
	return (scheme == "s3" || strings.HasPrefix(scheme, "s3+")) && rest != "" && len(s) <= maxPathBytes &&
		!strings.ContainsFunc(s, unicode.IsControl) && !strings.Contains(s, "@")
}

// wrongElement is wrongType for one element of a list.
func (k Key) wrongElement(got string) error {
	if k.Type == Paths {
		return fmt.Errorf("%s must hold absolute paths, not %s", k.Path, got)
	}
	return k.wrongType(got)
}

// checkPaths checks a list of paths.
func (k Key) checkPaths(paths []string) error {
	if len(paths) > maxPaths {
		return fmt.Errorf("%s has %d paths, the limit is %d", k.Path, len(paths), maxPaths)
	}
	seen := map[string]bool{}
	for _, p := range paths {
		switch {
		case !validPath(p):
			return k.wrongElement(quote(p))
		case seen[p]:
			return fmt.Errorf("%s names %s twice", k.Path, quote(p))
		}
		seen[p] = true
	}
	return nil
}

// splitPaths takes apart a list in a variable or flag, where it is written like
// $PATH. Blank elements count as absent, as in an unset variable.
func splitPaths(text string) []string {
	var paths []string
	for _, p := range filepath.SplitList(text) {
		if p = strings.TrimSpace(p); p != "" {
			paths = append(paths, p)
		}
	}
	return paths
}
