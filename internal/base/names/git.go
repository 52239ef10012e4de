package names

import "strings"

// IsGitFolder reports whether some file system takes the name of a file or folder for .git, where git finds commands to
// run: in any case, with characters that HFS+ does not see, with dots, spaces or a stream behind it as NTFS has them, behind a
// backslash, or by the short name GIT~1.
func IsGitFolder(name string) bool {
	for part := range asSystemsSee(name) {
		part = strings.TrimRight(part, ". ")
		short, isShort := strings.CutPrefix(part, "git~")
		if part == ".git" || isShort && strings.Trim(short, "0123456789") == "" {
			return true
		}
	}
	return false
}

// InGitFolder reports whether a slash-separated path is, or goes through, a folder that [IsGitFolder] names.
func InGitFolder(path string) bool {
	for elem := range strings.SplitSeq(path, "/") {
		if IsGitFolder(elem) {
			return true
		}
	}
	return false
}

// IsCommandFolder reports whether a version control system finds commands to run in a folder of this name: [IsGitFolder],
// and the folders of Mercurial and Jujutsu in the same spellings.
func IsCommandFolder(name string) bool {
	if IsGitFolder(name) {
		return true
	}
	for part := range asSystemsSee(name) {
		switch strings.TrimRight(part, ". ") {
		case ".hg", ".jj", "hg~1", "jj~1":
			return true
		}
	}
	return false
}

// IsGitSpecial reports whether git refuses a name in a tree, reads settings from a file of that name, or may meet a file
// system that takes it for such a name. Two harmless names that people use are let through.
func IsGitSpecial(name string) bool {
	if name == ".gitignore" || name == ".gitkeep" {
		return false
	}
	for part := range asSystemsSee(name) {
		for _, prefix := range []string{".git", "git~", "gitmod~", "gi7eba~", "gitatt~", "gi7d29~"} {
			if strings.HasPrefix(part, prefix) {
				return true
			}
		}
	}
	return false
}

// asSystemsSee yields what a name is to the file systems that change names: folded, without what HFS+ ignores, without
// the stream that NTFS cuts off, and each part of it where a backslash separates names.
func asSystemsSee(name string) func(yield func(string) bool) {
	seen := strings.Map(dropIgnored, name)
	return func(yield func(string) bool) {
		for part := range strings.SplitSeq(seen, `\`) {
			part, _, _ = strings.Cut(part, ":")
			if !yield(Fold(part)) {
				return
			}
		}
	}
}

// dropIgnored drops what HFS+ does not see in a name.
func dropIgnored(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
