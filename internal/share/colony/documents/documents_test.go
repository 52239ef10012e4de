package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func TestUnwritableNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		goos, name, want string
	}{
		{"linux", "MEMORY.md", ""},
		{"linux", "a/b/c.md", ""},
		{"linux", "..hidden", ""},
		{"linux", "CON", ""},
		{"linux", `back\slash`, ""},
		{"linux", "line\nfeed", ""},
		{"linux", "日本語.md", ""},
		{"linux", ".git", "is a name of git"},
		{"linux", strings.Repeat("x", 255), ""},
		{"linux", strings.Repeat("x", 256), "has an element of more than 255 bytes"},
		{"linux", "", "is empty"},
		{"linux", ".", "is not a clean path"},
		{"linux", "..", "leaves the folder"},
		{"linux", "../x", "leaves the folder"},
		{"linux", "a/../../x", "leaves the folder"},
		{"linux", "/etc/passwd", "is an absolute path"},
		{"linux", "a//b", "is not a clean path"},
		{"linux", "a/", "is not a clean path"},
		{"linux", "a\x00b", "contains a zero byte"},
		{"linux", ".git/hooks/post-checkout", "is a name of git"},
		{"linux", "sub/.GIT/config", "is a name of git"},
		{"linux", "sub/.git", "is a name of git"},
		{"linux", ".GiT", "is a name of git"},
		{"linux", ".git. .", "is a name of git"},
		{"linux", ".git::$INDEX_ALLOCATION", "is a name of git"},
		{"linux", "GIT~1/config", "is a name of git"},
		{"linux", "x\\.git", "is a name of git"},
		{"linux", ".g\u200cit", "is a name of git"},
		{"linux", "\ufeff.git/config", "is a name of git"},
		{"linux", ".hg/hgrc", "is a folder of version control"},
		{"linux", "a/.JJ/repo/config.toml", "is a folder of version control"},
		{"linux", ".gitignore", ""},
		{"linux", "git~ideas", ""},
		{"linux", "a.git", ""},
		{"windows", "a:b", "is not a valid file name on Windows"},
		{"windows", `a\b`, "is not a valid file name on Windows"},
		{"windows", "dot.", "is not a valid file name on Windows"},
	} {
		must.Equal(t, fmt.Sprintf("%s: %q", c.goos, c.name), unwritable(c.goos, c.name), c.want)
	}
}

func TestFolderRefusesNamesThatCollide(t *testing.T) {
	t.Parallel()
	to := must.Get(OpenFolder(t.TempDir(), "", nil))(t)
	got := to.Refuses(colony.Documents{"a": "1", "a/b": "2", "a/b/c": "3", "x/y": "4", "../z": "5"})
	want := map[string]string{
		"a/b":   `lies below "a", which is a document`,
		"a/b/c": `lies below "a/b", which is a document`,
		"../z":  "leaves the folder",
	}
	must.Equal(t, "refused", got, want)
}

// TestRestoreGoesOnAfterAConflict interrupts a restore after the first document: a second
// run leaves that one and writes the rest.
func TestRestoreGoesOnAfterAConflict(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	to := must.Get(OpenFolder(dir, "", nil))(t)
	docs := colony.Documents{"a": "1", "b/c": "2", "d": "3"}
	r := must.Get(NewPlan(t.Context(), to, docs))(t)
	// Something appears where the plan saw nothing: it is not replaced.
	must.Do(t, os.Mkdir(filepath.Join(dir, "b"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, "b", "c"), []byte("mine"), 0o640))
	must.Kind(t, "writing it over", r.Write(t.Context(), to), amber.KindConflict)
	r = must.Get(NewPlan(t.Context(), to, docs))(t)
	must.Equal(t, "second plan", [][]string{r.Written, r.Replaced, r.Unchanged}, [][]string{{"b/c", "d"}, {"b/c"}, {"a"}})
	must.Do(t, r.Write(t.Context(), to))
	for name, want := range docs {
		must.Equal(t, name, string(must.Get(os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))))(t)), want)
	}
	must.Equal(t, "entries of the folder", len(must.Get(os.ReadDir(dir))(t)), 3)
}

func TestDocumentsLoseTheirSecretsEverywhere(t *testing.T) {
	t.Parallel()
	const secret = "AKIAIOSFODNN7EXAMPLF"
	d := Set{Documents: colony.Documents{
		"a.md": "key " + secret, "b.json": `{"k":"` + secret + `"}`, "c.md": "nothing", secret + ".md": "by name",
	}}
	must.Do(t, d.Redact(PartFolder, Own{}))
	for name, text := range d.Documents {
		must.Hides(t, name, name+text, secret)
	}
	if len(d.Documents) != 3 || d.Documents["c.md"] != "nothing" || !strings.HasPrefix(d.Documents["b.json"], `{"k":`) {
		t.Errorf("documents: %v", d.Documents)
	}
	if len(d.Skipped) != 1 || d.Skipped[0].Reason != wire.SkipBadName || strings.Contains(d.Skipped[0].Path, secret) {
		t.Errorf("skipped: %+v", d.Skipped)
	}
	must.Equal(t, "redacted", d.Redacted["aws-access-key-id"], 2)
}
