package vaultapi

import (
	"fmt"
	"path"
	"strings"

	"github.com/amber-memory/amber/internal/base/names"
)

// entryNames are the names of files inside of an archive. A user who unpacks it, on any system, finds each of them
// below the folder of the archive. A number distinguishes names that would be one there, such as names that differ
// in case only, and names of files that are also folders.
func entryNames(all []string) []string {
	safe := make([]string, len(all))
	taken := map[string]bool{} // folded
	for i, name := range all {
		safe[i] = safeName(name)
		for dir := path.Dir(safe[i]); dir != "."; dir = path.Dir(dir) {
			taken[fold(dir)] = true
		}
	}
	for i, name := range safe {
		ext := path.Ext(name)
		for n := 2; taken[fold(safe[i])]; n++ {
			safe[i] = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), n, ext)
		}
		taken[fold(safe[i])] = true
	}
	return safe
}

// fold makes names one that are one where case means nothing.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// safeName is a name without what some system takes for something else.
func safeName(name string) string {
	clean := path.Clean("/" + strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name))[1:]
	elements := strings.Split(clean, "/")
	for i, e := range elements {
		elements[i] = safeElement(e)
	}
	return strings.Join(elements, "/")
}

// safeElement is a part of a name. Windows leaves out dots and spaces at its end.
func safeElement(e string) string {
	if trimmed := strings.TrimRight(e, ". "); trimmed != e || e == "" {
		e = trimmed + strings.Repeat("_", max(len(e)-len(trimmed), 1))
	}
	if names.IsDevice(e) {
		e = "_" + e
	}
	return e
}
