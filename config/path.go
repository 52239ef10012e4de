package config

import (
	"fmt"
	"path/filepath"
	"slices"
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

// isBucket reports whether s is the URL of a bucket and not a path. The target that opens the
// bucket reads the URL; here it must be one line, and must have no place for secrets.
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
	return k.checkEach(paths, maxPaths, "paths", func(p string) error {
		if validPath(p) {
			return nil
		}
		return k.wrongElement(quote(p))
	})
}

// checkEach checks the length of a list, and each element, which may occur once.
func (k Key) checkEach(list []string, most int, what string, check func(string) error) error {
	if len(list) > most {
		return fmt.Errorf("%s has %d %s, the limit is %d", k.Path, len(list), what, most)
	}
	for i, s := range list {
		if err := check(s); err != nil {
			return err
		}
		if slices.Contains(list[:i], s) {
			return fmt.Errorf("%s names %s twice", k.Path, quote(s))
		}
	}
	return nil
}

// split takes apart a list in a variable or flag: paths as in $PATH, patterns by
// lines, other texts by commas. Blank elements count as absent, as in an unset
// variable.
func (k Key) split(text string) []string {
	elements := strings.SplitSeq(text, ",")
	switch k.Type {
	case Paths:
		elements = slices.Values(filepath.SplitList(text))
	case Patterns:
		elements = strings.Lines(text)
	}
	var list []string
	for s := range elements {
		if s = strings.TrimSpace(s); s != "" {
			list = append(list, s)
		}
	}
	return list
}
