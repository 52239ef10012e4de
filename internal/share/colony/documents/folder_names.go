package documents

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/amber-memory/amber/internal/base/names"
	"github.com/amber-memory/amber/internal/share/colony"
)

// Bounds of names, as common file systems have them.
const (
	maxElement = 255
	maxPath    = 4095
)

// Refuses implements [Target].
func (t *FolderTarget) Refuses(d colony.Documents) map[string]string {
	refused := map[string]string{}
	var writable []string
	repositories := t.gitFolders(d)
	for _, name := range d.Names() {
		why := unwritable(runtime.GOOS, name)
		if why == "" && len(filepath.Join(t.dir, filepath.FromSlash(name))) > maxPath {
			why = fmt.Sprintf("has a path of more than %d bytes", maxPath)
		}
		for dir := path.Dir(name); why == "" && dir != "." && dir != "/"; dir = path.Dir(dir) {
			if _, isFile := d[dir]; isFile {
				why = fmt.Sprintf("lies below %q, which is a document", short(dir))
			}
		}
		if why == "" && repositories.hold(name) {
			why = "would become part of a git repository"
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
		return "contains a zero byte"
	case strings.HasPrefix(name, "/"):
		return "is an absolute path"
	}
	for e := range strings.SplitSeq(name, "/") {
		switch {
		case e == "" || e == ".":
			return "is not a clean path"
		case e == "..":
			return "leaves the folder"
		case len(e) > maxElement:
			return fmt.Sprintf("has an element of more than %d bytes", maxElement)
		case names.IsGitFolder(e):
			return "is a name of git"
		case names.IsCommandFolder(e):
			return "is a folder of version control"
		case goos == "windows" && illegalOnWindows(e):
			return "is not a valid file name on Windows"
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "is a reserved name on this system"
	}
	return ""
}

func illegalOnWindows(element string) bool {
	last := element[len(element)-1]
	return last == '.' || last == ' ' || strings.ContainsAny(element, `<>:"\|?*`) ||
		strings.ContainsFunc(element, func(r rune) bool { return r < ' ' })
}

// gitFolders are folders that git would take for a repository once the documents
// are written: git runs commands that the configuration of a repository names.
type gitFolders map[string]bool

// hold reports whether a document lies in one of them.
func (r gitFolders) hold(name string) bool {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if r[dir] || dir == "." || dir == "/" {
			return r[dir]
		}
	}
}

// gitFolders looks at the documents and at the files that exist: a HEAD beside
// objects and refs, or beside the file commondir that says where they are.
func (t *FolderTarget) gitFolders(d colony.Documents) gitFolders {
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
