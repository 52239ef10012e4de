package main

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/amber-memory/amber/colony"
)

// Bounds of names, as common file systems have them.
const (
	maxElement = 255
	maxPath    = 4095
)

func (t *dirTarget) Refuses(d colony.Documents) map[string]string {
	refused := map[string]string{}
	var writable []string
	repositories := t.gitFolders(d)
	for _, name := range slices.Sorted(maps.Keys(d)) {
		why := unwritable(runtime.GOOS, name)
		if why == "" && len(filepath.Join(t.dir, filepath.FromSlash(name))) > maxPath {
			why = "is too long"
		}
		for dir := path.Dir(name); why == "" && dir != "." && dir != "/"; dir = path.Dir(dir) {
			if _, isFile := d[dir]; isFile {
				why = fmt.Sprintf("lies below %q, which is a document, too", oneLine(dir, 80))
			}
		}
		if why == "" && repositories.hold(name) {
			why = "lies in what git would take for a repository"
		}
		if why != "" {
			refused[name] = why
			continue
		}
		writable = append(writable, name)
	}
	maps.Copy(refused, t.twins(writable))
	return refused
}

// unwritable says why a name cannot be a file below a folder, "" when it can.
func unwritable(goos, name string) string {
	switch {
	case name == "":
		return "is empty"
	case strings.ContainsRune(name, 0):
		return "holds a zero byte"
	case strings.HasPrefix(name, "/"):
		return "is absolute"
	}
	for e := range strings.SplitSeq(name, "/") {
		switch {
		case e == "" || e == ".":
			return "is no plain path"
		case e == "..":
			return "leaves the folder"
		case len(e) > maxElement:
			return fmt.Sprintf("is longer than %d bytes", maxElement)
		case gitsOwn(e):
			return "is git's own"
		case goos == "windows" && illegalOnWindows(e):
			return "is not legal on this file system"
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "means something else on this system"
	}
	return ""
}

func illegalOnWindows(element string) bool {
	last := element[len(element)-1]
	return last == '.' || last == ' ' || strings.ContainsAny(element, `<>:"\|?*`) ||
		strings.ContainsFunc(element, func(r rune) bool { return r < ' ' })
}

// gitsOwn reports whether some file system takes a name for that of the folder
// of git, which runs commands that are written there: in any case, behind what
// HFS+ does not see, before what NTFS does not, or by its short name.
func gitsOwn(element string) bool {
	seen := strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, element)
	seen, _, _ = strings.Cut(seen, ":") // a stream of a file
	// A backslash parts names on Windows.
	for part := range strings.SplitSeq(seen, `\`) {
		part = strings.ToLower(strings.TrimRight(part, ". "))
		short, isShort := strings.CutPrefix(part, "git~")
		if part == gitFolder || isShort && strings.Trim(short, "0123456789") == "" {
			return true
		}
	}
	return false
}

// gitFolders are folders that git would take for a repository of its own once
// the documents are there: it runs commands that the configuration in one names.
type gitFolders map[string]bool

// hold reports whether a document lies in one.
func (r gitFolders) hold(name string) bool {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if r[dir] || dir == "." || dir == "/" {
			return r[dir]
		}
	}
}

// gitFolders looks at the documents and at what is there already: a HEAD
// beside objects and refs, or beside the name of where they are.
func (t *dirTarget) gitFolders(d colony.Documents) gitFolders {
	paths, dirs := map[string]bool{}, map[string]bool{".": true}
	for name := range d {
		for p := name; p != "." && p != "/"; p = path.Dir(p) {
			paths[strings.ToLower(p)] = true
			dirs[path.Dir(p)] = true
		}
	}
	all := gitFolders{}
	for dir := range dirs {
		has := func(name string) bool {
			if p := path.Join(dir, name); paths[strings.ToLower(p)] {
				return true
			}
			if t.root == nil || !filepath.IsLocal(filepath.FromSlash(dir)) {
				return false
			}
			_, err := t.root.Lstat(filepath.FromSlash(path.Join(dir, name)))
			return err == nil
		}
		all[dir] = has("HEAD") && (has("objects") && has("refs") || has("commondir"))
	}
	return all
}
