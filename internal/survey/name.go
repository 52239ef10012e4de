package survey

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxName = 255  // bytes, of one element
	maxPath = 4096 // bytes
)

// CheckPath checks that a slash-separated path stays below its root and that every system can hold a file of
// that name.
func CheckPath(path string) error {
	if len(path) > maxPath {
		return fmt.Errorf("it is longer than %d bytes", maxPath)
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
	case name == "" || name == "." || name == "..":
		return fmt.Errorf("%q is no name", name)
	case len(name) > maxName:
		return fmt.Errorf("it is longer than %d bytes", maxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("it is not valid UTF-8")
	case strings.ContainsFunc(name, isForbidden):
		return fmt.Errorf("it holds a character that not every system allows")
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return fmt.Errorf("it ends with a dot or a space")
	case isDevice(name):
		return fmt.Errorf("it is a device on Windows")
	}
	return nil
}

func isForbidden(r rune) bool {
	return unicode.IsControl(r) || strings.ContainsRune(`<>:"/\|?*`, r)
}

// isDevice reports whether Windows takes the name for a device, whatever its extension is.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToLower(strings.TrimRight(base, " "))
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	port, isCom := strings.CutPrefix(base, "com")
	if !isCom {
		var isLpt bool
		if port, isLpt = strings.CutPrefix(base, "lpt"); !isLpt {
			return false
		}
	}
	switch port {
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
