package setup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// editors returns what edits the settings of every host.
func editors(tb testing.TB) (all []editor) {
	tb.Helper()
	o, err := Options{
		Home: "/nowhere/home", Dir: "/nowhere/project", StateDir: "/nowhere/state", Executable: "/usr/local/bin/amber", MCP: true,
		Plugin: func([]string) string { return "// " + PluginMark + "\n" }, GOOS: "linux",
	}.check()
	must.Do(tb, err)
	for _, h := range hosts() {
		for _, pl := range must.Get(h.places(o, User))(tb) {
			if f, ok := pl.text.(tomlFile); ok {
				h := hooks{host: "codex", events: codexEvents(), entry: o.entries("codex", 1)}
				m := o.server()
				f.add = inline{&m, &h}
				pl.text = f
			}
			all = append(all, pl.text)
		}
	}
	return all
}

// FuzzEditors gives any text to what edits the settings of a host: either it is
// refused, or taking out what was put in gives the text back, and putting in
// twice is putting in once.
func FuzzEditors(f *testing.F) {
	names := must.Get(filepath.Glob("testdata/*.*"))(f)
	count := len(editors(f))
	for _, name := range names {
		b := must.Get(os.ReadFile(name))(f)
		for i := range count {
			f.Add(b, i)
		}
	}
	for _, seed := range []string{"", "\n", "\ufeff", "{}", "{ }", `{"hooks":{}}`, `{"hooks":{"Stop":[ ]}}`, "{//\n}", `{"mcpServers":{},"version":2}`, "[hooks.state]\n", "[mcp_servers]\n"} {
		for i := range count {
			f.Add([]byte(seed), i)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, which int) {
		all := editors(t)
		if which < 0 || which >= len(all) {
			return
		}
		e := all[which]
		seen, err := e.look(text)
		after, m, err2 := e.install(text, memory{})
		if err != nil && err2 == nil {
			t.Fatalf("cannot be looked at, but changed: %v", err)
		}
		if err2 != nil || seen.any() {
			return
		}
		if seen, err := e.look(after); err != nil || !seen.any() {
			t.Fatalf("nothing is seen in %q: %v", after, err)
		}
		twice, _, err := e.install(after, m)
		if err != nil || string(twice) != string(after) {
			t.Fatalf("a second time makes %q of %q: %v", twice, after, err)
		}
		back, nothing, err := e.uninstall(after, m)
		if _, whole := e.(plugin); whole && nothing {
			return
		}
		if err != nil || string(back) != string(text) {
			t.Fatalf("%.300q comes back as %.300q: %v", text, back, err)
		}
	})
}
