package names

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxName = 255 // bytes, of one element
	// MaxPath bounds a path, in bytes.
	MaxPath = 4096
)

// CheckPath checks that a slash-separated path stays below its root and that every system can hold a file of
// that name.
func CheckPath(path string) error {
	if len(path) > MaxPath {
		return fmt.Errorf("path is longer than %d bytes", MaxPath)
	}
	for elem := range strings.SplitSeq(path, "/") {
		if err := CheckName(elem); err != nil {
			return err
		}
	}
	return nil
}

// CheckName is [CheckPath] for one element of a path.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("a name in the path is empty")
	case name == "." || name == "..":
		return fmt.Errorf("%q is not the name of a file", name)
	case len(name) > maxName:
		return fmt.Errorf("name is longer than %d bytes", maxName)
	case !utf8.ValidString(name):
		return errors.New("name is not valid UTF-8")
	case strings.ContainsFunc(name, isForbidden):
		return errors.New("name has a character that not every system allows")
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return errors.New("name ends with a dot or a space")
	case IsDevice(name):
		return errors.New("name is a device on Windows")
	}
	return nil
}

func isForbidden(r rune) bool {
	return unicode.IsControl(r) || strings.ContainsRune(`<>:"/\|?*`, r)
}

// IsDevice reports whether Windows takes a name for a device, whatever its extension is.
func IsDevice(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToLower(strings.TrimRight(base, " "))
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	if !strings.HasPrefix(base, "com") && !strings.HasPrefix(base, "lpt") {
		return false
	}
	switch base[3:] {
	case "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
		return true
	}
	return false
}

// Fold returns the same for two names that a file system which ignores case takes for one.
func Fold(name string) string { return strings.Map(foldRune, name) }

// foldRune returns the least rune of those that differ from r in case alone; of letters of ASCII, the small one.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		return unicode.ToLower(r)
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if least < utf8.RuneSelf {
		return unicode.ToLower(least)
	}
	return least
}
