package gitobj

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// meansSomethingToGit reports whether git refuses a name in a tree, reads settings from a file of it, or may meet a file system
// that takes it for such a one. Two harmless names that people have are let through.
func meansSomethingToGit(name string) bool {
	if name == ".gitignore" || name == ".gitkeep" {
		return false
	}
	for part := range strings.SplitSeq(strings.ToLower(strings.Map(dropIgnored, name)), `\`) {
		for _, prefix := range []string{".git", "git~", "gitmod~", "gi7eba~", "gitatt~", "gi7d29~"} {
			if strings.HasPrefix(part, prefix) {
				return true
			}
		}
	}
	return false
}

// IsGitFolder reports whether some file system takes a name for that of a git folder.
func IsGitFolder(name string) bool {
	folded := strings.ToLower(strings.Map(dropIgnored, name))
	return strings.TrimRight(folded, ". ") == ".git" || strings.HasPrefix(folded, "git~")
}

// dropIgnored drops what HFS+ does not see in a name.
func dropIgnored(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
