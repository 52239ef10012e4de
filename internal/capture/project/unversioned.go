package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// signs are names of files that the top of a project has.
var signs = []string{
	"AGENTS.md", "CLAUDE.md", folderName,
	"package.json", "deno.json", "go.mod", "Cargo.toml", "pyproject.toml", "setup.py", "requirements.txt", "pom.xml", "build.gradle",
	"build.gradle.kts", "Gemfile", "composer.json", "mix.exs", "pubspec.yaml", "Package.swift", "CMakeLists.txt",
}

// unversioned is the claim of a directory outside of git: the nearest folder that has a sign of a project, else the directory itself,
// named after its path. No file of the folder has a say in the name. The home folder of the user, the folders above it, and
// those that another user owns or writes to claim nothing; so does every folder where the home folder is not known.
func unversioned(dir, userHome string) claim {
	if userHome == "" || !filepath.IsAbs(dir) {
		return claim{}
	}
	userHome = real(userHome)
	top := ""
	for at := dir; private(at) && !isAbove(at, userHome); at = filepath.Dir(at) {
		if top == "" {
			top = dir
		}
		if slices.ContainsFunc(signs, func(name string) bool { return signed(filepath.Join(at, name)) }) {
			top = at
			break
		}
	}
	if top == "" {
		return claim{}
	}
	return claim{name: named(top), source: Path, top: top, place: top}
}

// private reports whether a folder belongs to the user, and no other user may write to it.
func private(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && info.Mode().Perm()&0o002 == 0 && mine(dir)
}

// signed reports whether a sign of a project is there, and is the user's.
func signed(path string) bool {
	_, err := os.Lstat(path)
	return err == nil && mine(path)
}

// isAbove reports whether a folder is another one or lies above it.
func isAbove(dir, other string) bool {
	rel, err := filepath.Rel(dir, other)
	return err != nil || rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
