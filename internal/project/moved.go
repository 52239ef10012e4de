package project

import (
	"path/filepath"
	"strings"
)

// SameFolderName reports whether id is what a repository would be called that
// lies elsewhere and whose folder has the same name: the one that p was before
// it was moved, or another one.
func (p Project) SameFolderName(id string) bool {
	if p.common == "" || id == p.ID {
		return false
	}
	own := named(p.common)
	stem := own[:len(own)-digestDigits]
	rest, ok := strings.CutPrefix(id, stem)
	return ok && id != own && len(rest) == digestDigits && strings.Trim(rest, "0123456789abcdef") == ""
}

// Contains reports whether a folder is in the repository of p, in any of its
// work trees, or below its top where it is in none. A folder that is gone
// counts by its path.
func (p Project) Contains(dir string) bool {
	if top, ok := WorkTree(dir); ok {
		return p.common != "" && real(commonDir(filepath.Join(top, ".git"))) == real(p.common)
	}
	if p.Top == "" {
		return false
	}
	rel, err := filepath.Rel(real(p.Top), real(dir))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// real is a path without symbolic links, as far as it exists.
func real(path string) string {
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	return path
}
