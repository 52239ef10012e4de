// Package project tells which project a folder belongs to. It reads a few small
// files and runs nothing, so a hostile repository cannot make it run anything.
//
// In a git work tree, the first of these names the project:
//
//	GITDIR/amber-project   what [Set] was told on this machine; git never carries this file
//	.amber/project         what everybody who has the repository shares, unless a remote says otherwise
//	the remote             owner/name of origin, else of the first remote
//	the path               name of the folder and a digest of where the repository lies
//
// A file that travels with a repository does not win over the remote: the maker
// of a repository could claim the name of another project, and with the
// name its memories. Outside of a work tree .amber/project of the folder, or of
// one above it, names the project, if it belongs to the user.
package project

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
)

// Source says what names a project.
type Source string

// The sources of names.
const (
	Choice Source = "choice" // Set, on this machine
	File   Source = "file"   // .amber/project
	Remote Source = "remote" // the git remote
	Path   Source = "path"   // where the repository lies
)

// Project is what a folder belongs to. The zero value belongs to none.
type Project struct {
	ID     string `json:"id"`
	Source Source `json:"source,omitempty"`
	Top    string `json:"top,omitempty"` // the top of the work tree, or the folder that holds .amber
	// Claimed is the name in .amber/project where something else names the
	// project.
	Claimed string `json:"claimed,omitempty"`
	// Ignored names a file that does not hold a name, and says why.
	Ignored string `json:"ignored,omitempty"`
	// Others are what else the repository may have been called: by its remote,
	// by where it lies, and by its folder alone, as it was called without a
	// remote before. Other repositories may have been called the same.
	Others []string `json:"-"`

	common string // the folder of git that all work trees of the repository share; "" outside of one
}

// Names of files.
const (
	folderName = ".amber"
	fileName   = "project"
	choiceName = "amber-project"
)

// Of tells which project a directory belongs to. It never fails: what cannot
// be read names nothing.
func Of(dir string) Project {
	top, ok := WorkTree(dir)
	if !ok {
		return outside(dir)
	}
	p := Project{Top: top, common: commonDir(filepath.Join(top, ".git"))}
	choice := p.read(filepath.Join(p.common, choiceName))
	claimed := p.readShared(top)
	remote := remoteName(filepath.Join(p.common, "config"))
	switch {
	case choice != "":
		p.ID, p.Source = choice, Choice
	case claimed != "" && (remote == "" || remote == claimed):
		p.ID, p.Source = claimed, File
	case remote != "":
		p.ID, p.Source = remote, Remote
	default:
		p.ID, p.Source = named(p.common), Path
	}
	if claimed != p.ID {
		p.Claimed = claimed
	}
	for _, name := range []string{remote, named(p.common), filepath.Base(top)} {
		if name != p.ID && amber.CheckID("project id", name) == nil {
			p.Others = append(p.Others, name)
		}
	}
	return p
}

// outside looks for .amber/project in a directory and above.
func outside(dir string) Project {
	for ; ; dir = filepath.Dir(dir) {
		p := Project{Top: dir}
		if name := p.readShared(dir); name != "" && ownFile(filepath.Join(dir, folderName, fileName)) {
			p.ID, p.Source = name, File
			return p
		}
		if dir == filepath.Dir(dir) {
			return Project{}
		}
	}
}

// WorkTree returns the top of the git work tree that a directory is in.
func WorkTree(dir string) (top string, ok bool) {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		if err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

// digestDigits is how much of the digest of a path is in a name: enough that no
// two repositories of one folder name share it.
const digestDigits = 12

// named names a repository after where it lies. All its work trees, and all
// ways to it through symbolic links, lead to the same name.
func named(common string) string {
	common = real(common)
	base := filepath.Base(common)
	if base == ".git" {
		base = filepath.Base(filepath.Dir(common))
	}
	sum := sha256.Sum256([]byte("amber project 1\x00" + filepath.ToSlash(common)))
	return plain(strings.TrimSuffix(base, ".git")) + "-" + hex.EncodeToString(sum[:])[:digestDigits]
}

// plain makes a folder's name fit into an id.
func plain(base string) string {
	base = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '/' || r == filepath.Separator {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(base, "_"))
	const room = amber.MaxIDBytes - digestDigits - 1
	if len(base) > room {
		base = strings.ToValidUTF8(base[:room], "")
	}
	if base = strings.TrimSpace(base); base == "" || base == "." || base == "_" {
		return "project"
	}
	return base
}
