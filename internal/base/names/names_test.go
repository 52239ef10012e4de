package names_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/names"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestCheckPath(t *testing.T) {
	t.Parallel()
	for path, ok := range map[string]bool{
		"a": true, "a/b.md": true, "ünï/ä b": true, ".hidden": true, "console": true, "com0": true, "comX": true, "lpt": true, "a.con": true,
		"": false, "/a": false, "a/": false, "a//b": false, "..": false, "a/../b": false, "./a": false, `a\b`: false, "a\x00": false,
		"a\u0085b": false, "AUX": false, "aux.x.y": false, "aux .txt": false, "lpt9": false, "com¹": false, "a/nul/b": false,
		"CONIN$": false, "a.": false, "a /b": false, "\xff": false,
		strings.Repeat("x", 255): true, strings.Repeat("x", 256): false, strings.Repeat("x/", 2048) + "x": false,
	} {
		if err := names.CheckPath(path); (err == nil) != ok {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func FuzzCheckPathStaysBelow(f *testing.F) {
	for _, s := range []string{"a/b", "../x", "a/./b", "c:/x", "\\\\host", "CON"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if names.CheckPath(path) == nil && !filepath.IsLocal(filepath.FromSlash(path)) {
			t.Errorf("%q leads out", path)
		}
		if names.Fold(strings.ToUpper("straße"+path)) == "" {
			t.Error("nothing left")
		}
	})
}

// TestNamesThatMeanSomethingToGit is the one table of spellings: which some file system takes for .git, and which git
// refuses in a tree or reads settings from.
func TestNamesThatMeanSomethingToGit(t *testing.T) {
	t.Parallel()
	const folder, special, command, plain = "folder", "special", "command", "plain"
	for name, want := range map[string]string{
		".git": folder, ".GIT": folder, ".GiT": folder,
		".git.": folder, ".git ": folder, ".git. .": folder, ".GIT...": folder,
		"git~1": folder, "GIT~1": folder, "git~12": folder, "GIT~1.": folder, "git~1 ": folder, "git~": folder,
		".git:stream": folder, ".git::$INDEX_ALLOCATION": folder, "git~1:x": folder,
		`x\.git`: folder, `.git\config`: folder, `a\GIT~1\hooks`: folder,
		".g\u200cit": folder, "\ufeff.git": folder, ".gi\u202at": folder, ".git\u206f": folder, "\u200f.G\u200cIT ": folder,
		".gitmodules": special, ".GITATTRIBUTES": special, ".gitmodules.": special, "gitmod~1": special, "gi7eba~1": special, "GITATT~1": special,
		"gi7d29~1": special, ".g\u200citmodules": special, "git~ideas": special, ".gitx": special,
		".hg": command, ".HG": command, ".jj": command, ".jj. ": command, "HG~1": command, ".h\u200cg": command, `x\.hg`: command, ".hg:x": command,
		".gitignore": plain, ".gitkeep": plain, "git": plain, "a.git": plain, "agit~1": plain, "git~1a/": special, "x.git": plain, "gît": plain,
		".hgignore": plain, "hg": plain, "jj": plain, "": plain, ".": plain, "..": plain,
	} {
		isFolder := want == folder
		must.Equal(t, fmt.Sprintf("IsGitFolder(%q)", name), names.IsGitFolder(name), isFolder)
		must.Equal(t, fmt.Sprintf("IsCommandFolder(%q)", name), names.IsCommandFolder(name), isFolder || want == command)
		must.Equal(t, fmt.Sprintf("IsGitSpecial(%q)", name), names.IsGitSpecial(name), isFolder || want == special)
		if !isFolder {
			continue
		}
		for _, path := range []string{name, "a/" + name, name + "/config", "a/" + name + "/b"} {
			if !names.InGitFolder(path) {
				t.Errorf("InGitFolder(%q) is false", path)
			}
			must.Error(t, path, must.Err(amber.CheckNoteName(path)))
		}
	}
	if names.InGitFolder("a/.gitignore") {
		t.Error("a/.gitignore is in a git folder")
	}
}

// TestNoDeviceIsANote compares the rule of the root package, which imports nothing, with this one.
func TestNoDeviceIsANote(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"con", "prn", "aux", "nul", "conin$", "conout$", "com1", "com9", "com¹", "lpt1", "lpt9", "LPT²"} {
		for _, name := range []string{base, strings.ToUpper(base), base + ".txt", base + " .x"} {
			if !names.IsDevice(name) {
				t.Errorf("%q is no device", name)
			}
			if _, err := amber.CheckNoteName("a/" + name); err == nil && !strings.Contains(name, " ") {
				t.Errorf("%q is the name of a note", name)
			}
		}
	}
}
