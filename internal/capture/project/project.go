// Package project finds out which project a folder belongs to. It runs nothing, so a hostile
// repository cannot make it run anything.
//
// A folder only claims a project. In a git work tree the first of these is its claim:
//
//	GITDIR/amber-project   what [Registry.Set] wrote on this machine, or the maker of an archive
//	.amber/project         what everybody who has the repository shares, unless a remote says otherwise
//	the remote             host/path of origin, else of the first remote
//	the path               name of the folder and a digest of where the repository lies
//
// Outside of a work tree .amber/project of the folder, or of one above it, is the claim, if the
// file belongs to the user; else the path of the nearest folder that looks like a project, or of the folder itself.
//
// A [Registry] decides which project a folder has: the file projects.json of a home holds the
// folders that it knows. A folder that it does not know is given a project only where the home
// holds nothing under that name. A claim never leaves this package as an id.
package project

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// Source says what names a project.
type Source string

// The sources of names.
const (
	Choice      Source = "choice"      // Set, on this machine
	File        Source = "file"        // .amber/project
	Remote      Source = "remote"      // the git remote
	Path        Source = "path"        // where the repository lies
	Pinned      Source = "pinned"      // this home knows the folder under a name that the folder does not claim now
	Unconfirmed Source = "unconfirmed" // a name of its own, until the user confirms what the folder claims
)

// Names of files.
const (
	folderName = ".amber"
	fileName   = "project"
	choiceName = "amber-project"
)

// claim is what a folder says about itself.
type claim struct {
	name   string // the project; "" for none
	source Source
	top    string   // the top of the work tree, or the folder that holds .amber
	place  string   // real path of the git folder that all work trees of the repository share, or of top
	git    bool     // place is a git folder
	says   string   // the remote, or else the name in a file: another repository at this place says something else
	older  []string // what earlier versions called it by its remote
	others []string // what else it may have been called
	// claimed is the name in .amber/project where something else is the claim; ignored names a file
	// that counts for nothing, and says why.
	claimed, ignored string
}

// claimOf reads what a directory claims, for a user with a home folder, which may be "". It never fails: what cannot be read
// claims nothing.
func claimOf(dir, userHome string) claim {
	dir = real(dir)
	top, ok := WorkTree(dir)
	if !ok {
		if c := outside(dir); c.name != "" {
			return c
		}
		return unversioned(dir, userHome)
	}
	c := claim{top: top}
	if common, why := gitFolder(top); why == "" {
		c.place, c.git = real(common), true
	} else {
		c.place, c.ignored = top, filepath.Join(top, ".git")+": "+why
	}
	c.choose()
	return c
}

// choose finds the claim of a work tree.
func (c *claim) choose() {
	var choice string
	var remote address
	if c.git {
		choice = c.read(filepath.Join(c.place, choiceName))
		remote = remoteOf(filepath.Join(c.place, "config"), c.top)
	}
	file := c.readShared(c.top)
	switch {
	case choice != "":
		c.name, c.source = choice, Choice
	case file != "" && (remote.name == "" || remote.name == file):
		c.name, c.source = file, File
	case remote.name != "":
		c.name, c.source = remote.name, Remote
	default:
		c.name, c.source = named(c.place), Path
	}
	if file != c.name {
		c.claimed = file
	}
	if c.says = remote.name; c.says == "" && c.source != Path {
		c.says = c.name
	}
	if usable(remote.older) && remote.older != c.name {
		c.older = []string{remote.older}
	}
	for _, name := range []string{remote.name, remote.older, named(c.place), filepath.Base(c.top), named(c.top)} {
		if name != c.name && usable(name) && !slices.Contains(c.others, name) {
			c.others = append(c.others, name)
		}
	}
}

// outside looks for .amber/project in a directory and above.
func outside(dir string) claim {
	for ; ; dir = filepath.Dir(dir) {
		c := claim{top: dir, place: dir}
		if name := c.readShared(dir); name != "" && ownFile(filepath.Join(dir, folderName, fileName)) {
			c.name, c.says, c.source = name, name, File
			return c
		}
		if dir == filepath.Dir(dir) {
			return claim{}
		}
	}
}

// usable reports whether a name can be claimed.
func usable(name string) bool {
	return amber.CheckID("project id", name) == nil && !strings.HasPrefix(name, ownPrefix)
}

// odd reports whether only the user can give the name: it has the form of those that paths give,
// and is not that of the path.
func (c claim) odd() bool {
	stem, digest := cutDigest(c.name)
	return c.source != Path && stem != "" && digest != "" && !strings.Contains(stem, "/") && c.name != named(c.place)
}

// cutDigest splits the name that a path gives.
func cutDigest(name string) (stem, digest string) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 || len(name)-i-1 != digestDigits || strings.Trim(name[i+1:], "0123456789abcdef") != "" {
		return "", ""
	}
	return name[:i], name[i+1:]
}

// ownPrefix begins the names of folders whose claim is not confirmed. No folder can claim one.
const ownPrefix = "unconfirmed/"

// own is the name of a folder whose claim is not confirmed.
func (c claim) own() string { return ownPrefix + namedWithin(c.place, amber.MaxIDBytes-len(ownPrefix)) }

// digestDigits is how much of the digest of a path is in a name: enough that no
// two repositories of one folder name share it.
const digestDigits = 12

// named names a repository after where it lies. All its work trees, and all
// ways to it through symbolic links, lead to the same name.
func named(place string) string { return namedWithin(place, amber.MaxIDBytes) }

func namedWithin(place string, room int) string {
	place = real(place)
	base := filepath.Base(place)
	if base == ".git" {
		base = filepath.Base(filepath.Dir(place))
	}
	sum := sha256.Sum256([]byte("amber project 1\x00" + filepath.ToSlash(place)))
	return plain(strings.TrimSuffix(base, ".git"), room-digestDigits-1) + "-" + hex.EncodeToString(sum[:])[:digestDigits]
}

// plain makes a folder's name fit into an id.
func plain(base string, room int) string {
	base = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '/' || r == filepath.Separator {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(base, "_"))
	if base = strings.TrimSpace(clip.Bytes(base, room)); base == "" || base == "." || base == "_" {
		return "project"
	}
	return base
}

// real is a path without symbolic links, as far as it exists.
func real(path string) string {
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	return path
}

// contains reports whether a folder is in the repository of c, in any of its work trees, or below
// its top where it is in none. A folder that is gone counts by its path.
func (c claim) contains(dir string) bool {
	if top, ok := WorkTree(dir); ok {
		common, why := gitFolder(top)
		return c.git && why == "" && real(common) == c.place
	}
	if c.top == "" {
		return false
	}
	rel, err := filepath.Rel(real(c.top), real(dir))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
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
