package openviking

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

var ours = layout{"default", "acme", "coder_1"}

const someID = amber.MemoryID("0190a0b1-0000-7000-8000-00000000abcd")

func someMemory() *amber.Memory {
	return &amber.Memory{
		ID: someID, Kind: amber.UserPreference, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "amber"},
		Title: "Tabs", Content: "Indent with tabs.", Tags: []string{"go", "style"}, Topic: "indent",
	}
}

func TestNameTellsScopeKindIDAndVersion(t *testing.T) {
	t.Parallel()
	m := someMemory()
	uri := ours.uri(m, "body")
	must.Equal(t, "uri", uri, "viking://user/default/memories/amber/acme.coder_1/project-e1d038755a814ae5/userpreference/"+string(someID)+"-230d8358dc8e.md")
	n, ok := ours.parse(uri)
	must.Hold(t, ok, "%s is not parsed", uri)
	must.Hold(t, n == name{amber.ScopeProject, scopeHash(amber.ScopeProject, "amber"), amber.UserPreference, someID, digestOf("body")}, "got %+v", n)
	m.Scope = amber.ScopeGlobal
	must.Says(t, "global", ours.uri(m, "body"), "/global-0/userpreference/")
}

func TestParseTakesOnlyItsOwnForm(t *testing.T) {
	t.Parallel()
	good := ours.uri(someMemory(), "body")
	for _, bad := range []string{
		"", "viking://", good + "/", good + "\n", " " + good, strings.ToUpper(good),
		strings.Replace(good, "viking:", "file:", 1),
		strings.Replace(good, "user/default", "user/other", 1),
		strings.Replace(good, "acme.coder_1", "acme.coder_2", 1),
		strings.Replace(good, "acme.coder_1", "acme.coder_1/../acme.coder_1", 1),
		strings.Replace(good, "/project-", "//project-", 1),
		strings.Replace(good, "project-", "planet-", 1),
		strings.Replace(good, "project-", "global-", 1),
		strings.Replace(good, "userpreference", "user_preference", 1),
		strings.Replace(good, "userpreference", "%75serpreference", 1),
		strings.Replace(good, ".md", ".txt", 1),
		strings.Replace(good, ".md", ".md.md", 1),
		strings.Replace(good, "0190a0b1", "0190A0B1", 1),
		strings.Replace(good, "-230d", "-230D", 1),
		strings.Replace(good, "-230d", "-0230d", 1),
		strings.Replace(good, "0190a0b1-", "0190a0b1", 1),
	} {
		_, ok := ours.parse(bad)
		must.Hold(t, !ok, "%q is taken for ours", bad)
	}
	_, ok := layout{"", "acme", "coder_1"}.parse(layout{"", "acme", "coder_1"}.uri(someMemory(), "body"))
	must.Hold(t, !ok, "a name without a user is taken for ours")
}

func FuzzParseRendersTheSame(f *testing.F) {
	f.Add(ours.uri(someMemory(), "body"))
	f.Add(ours.root() + "/global-0/constraint/x-y.md")
	f.Add(ours.root() + "/doctor/a.md")
	f.Fuzz(func(t *testing.T, uri string) {
		if n, ok := ours.parse(uri); ok && ours.render(n) != uri {
			t.Errorf("%q renders as %q", uri, ours.render(n))
		} else if ok && ours.strange(uri) {
			t.Errorf("%q is ours and strange", uri)
		}
		for _, f := range []string{ours.root() + "/" + uri, ours.root() + uri} {
			_, ok := ours.parse(f)
			must.Hold(t, !ok || !strings.Contains(f, ".."), "%q leaves its folder", f)
			ours.strange(f)
		}
	})
}

func TestStrangeIsWhatNobodyOfUsWrote(t *testing.T) {
	t.Parallel()
	good := ours.uri(someMemory(), "body")
	for uri, want := range map[string]bool{
		good: false, folderOf(good): false, folderOf(folderOf(good)) + "/": false, ours.root(): false,
		folderOf(good) + "/.overview.md": false, ours.root() + "/doctor/probe-1.md": false,
		folderOf(good) + "/note.md": true, ours.root() + "/note.md": true, good + ".bak": true, good + "/x": true,
		"viking://user/default/memories/amber/acme.other/x.md": true,
	} {
		must.Equal(t, uri, ours.strange(uri), want)
	}
}

func TestTargetsAreTheScopesThatAFilterSees(t *testing.T) {
	t.Parallel()
	all := func(amber.Scope) bool { return true }
	f := amber.Filter{}
	must.Equal(t, "nobody", ours.targets(f, all), []string{ours.root() + "/global-0"})
	f.Identities = amber.Identities{SessionID: "s", UserID: "u", ProjectID: "p", WorkspaceID: "w"}
	must.Equal(t, "everything", len(ours.targets(f, all)), 5)
	public := func(s amber.Scope) bool { return s != amber.ScopeUser && s != amber.ScopeSession }
	must.Equal(t, "public", len(ours.targets(f, public)), 3)
	f.Kinds = amber.MemoryKinds()
	must.Equal(t, "all kinds", len(ours.targets(f, all)), 5)
	f.Kinds = append(amber.MemoryKinds()[:7], amber.UserFact)
	must.Equal(t, "seven kinds", len(ours.targets(f, all)), 35)
	f.Scope, f.Kinds = amber.ScopeProject, []amber.MemoryKind{amber.UserFact}
	must.Equal(t, "one", ours.targets(f, all), []string{ours.root() + "/project-" + scopeHash(amber.ScopeProject, "p") + "/userfact"})
}
