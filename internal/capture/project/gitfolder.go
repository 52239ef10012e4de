package project

import (
	"os"
	"path/filepath"
	"strings"
)

// gitFolder returns the folder of git that all work trees of the repository of top share. A .git
// file can name any folder, so it counts only where that folder points back; why says what is
// wrong otherwise.
func gitFolder(top string) (common, why string) {
	git := filepath.Join(top, ".git")
	if info, err := os.Lstat(git); err == nil && info.IsDir() {
		return git, ""
	}
	link, err := readSmall(git)
	target, ok := strings.CutPrefix(strings.TrimSpace(link), "gitdir: ")
	if err != nil || !ok || target == "" {
		return "", "does not name a git folder"
	}
	target = real(from(top, target))
	if shared, err := readSmall(filepath.Join(target, "commondir")); err == nil && strings.TrimSpace(shared) != "" {
		common := real(from(target, strings.TrimSpace(shared)))
		if isWorkTreeOf(common, target, git) {
			return common, ""
		}
	} else if back := workTreeOf(filepath.Join(target, "config")); back != "" && same(from(target, back), top) && owner(target) == owner(top) {
		return target, ""
	}
	return "", "names a git folder that does not point back; amber project set NAME names the project"
}

// isWorkTreeOf reports whether target is the part of the shared git folder that belongs to the work
// tree of the .git file: git keeps it below worktrees, with the path of that file.
func isWorkTreeOf(common, target, git string) bool {
	back, err := readSmall(filepath.Join(target, "gitdir"))
	return err == nil && filepath.Dir(target) == filepath.Join(common, "worktrees") &&
		same(from(target, strings.TrimSpace(back)), git) && owner(common) == owner(git)
}

// workTreeOf returns core.worktree of a configuration, as submodules have it.
func workTreeOf(config string) (path string) {
	eachSetting(config, func(section, key, value string) bool {
		if section == "core" && key == "worktree" {
			path = value
		}
		return path == ""
	})
	return path
}

// same reports whether two paths lead to one file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// from is a path as a file in dir means it.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
