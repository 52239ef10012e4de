package config_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestSourcesAreReadByName(t *testing.T) {
	t.Parallel()
	in := fileInput(`sources:
  claude:
    git: ~/.claude/memory
    files: [~/.claude/CLAUDE.md, /etc/claude/../claude/]
  engram:
    sqlite:
      - "~/.engram/engram.db"
  empty:
  emptier: {}
`)
	in.Environ = []string{
		"HOME=/home/ann",
		"AMBER_SOURCES__ENGRAM__FILES=" + list("~/.engram", "", "/srv/engram"),
		"AMBER_SOURCES__CLAUDE__GIT=/srv/git",
	}
	in.Flags = map[string]string{"sources.third.git": "~"}
	l := load(t, in)
	want := map[string]config.Foreign{
		"claude": {Git: "/srv/git", Files: []string{"/home/ann/.claude/CLAUDE.md", "/etc/claude"}},
		"engram": {SQLite: []string{"/home/ann/.engram/engram.db"}, Files: []string{"/home/ann/.engram", "/srv/engram"}},
		"third":  {Git: "/home/ann"},
	}
	must.Equal(t, "sources", l.Config.Sources, want)
	var values []config.Value
	for _, v := range l.Values {
		if strings.HasPrefix(v.Key, "sources.") {
			values = append(values, v)
		}
	}
	wantValues := []config.Value{
		{Key: "sources.claude.files", Value: want["claude"].Files, Source: config.FromFile, Default: []string{}},
		{Key: "sources.claude.git", Value: "/srv/git", Source: config.FromEnvironment, Default: ""},
		{Key: "sources.engram.files", Value: want["engram"].Files, Source: config.FromEnvironment, Default: []string{}},
		{Key: "sources.engram.sqlite", Value: want["engram"].SQLite, Source: config.FromFile, Default: []string{}},
		{Key: "sources.third.git", Value: "/home/ann", Source: config.FromFlag, Default: ""},
	}
	must.Equal(t, "values", values, wantValues)
}

func TestSourcesReject(t *testing.T) {
	t.Parallel()
	many := make([]string, 257)
	for i := range many {
		many[i] = fmt.Sprintf("/srv/%d", i)
	}
	tests := []struct {
		name, text string
		words      []string
	}{
		{"unknown key", "sources: {tool: {folder: /x}}", []string{`"folder"`, "sources.tool", "files, git, sqlite"}},
		{"key without a name", "sources: {git: /x}", []string{"sources.git", "section"}},
		{"name in capitals", "sources: {Tool: {git: /x}}", []string{`"Tool"`, "sources", "a-z"}},
		{"name with a dot", "sources: {my.tool: {git: /x}}", []string{`"my.tool"`, "sources"}},
		{"name that leads elsewhere", "sources: {../x: {git: /x}}", []string{`"../x"`}},
		{"empty name", "sources: {\"\": {git: /x}}", []string{`""`}},
		{"long name", "sources: {" + strings.Repeat("x", 65) + ": {git: /x}}", []string{"1 to 64"}},
		{"pattern as a name", "sources: {<name>: {git: /x}}", []string{`"<name>"`}},
		{"name twice", "sources:\n  a: {git: /x}\n  a: {git: /y}\n", []string{":3", "sources.a", "twice", "line 2"}},
		{"list of sources", "sources: [{git: /x}]", []string{"sources", "section", "a list"}},
		{"text for a source", "sources: {tool: /x}", []string{"sources.tool", "section"}},
		{"relative path", "sources: {tool: {git: notes}}", []string{"sources.tool.git", "absolute", `"notes"`}},
		{"empty path", "sources: {tool: {git: \"\"}}", []string{"sources.tool.git", "absolute"}},
		{"no path", "sources: {tool: {git: }}", []string{"sources.tool.git", "absolute", "nothing"}},
		{"number for a path", "sources: {tool: {git: 7}}", []string{"sources.tool.git", "absolute"}},
		{"path with a line feed", "sources: {tool: {git: \"/x\\ny\"}}", []string{"sources.tool.git"}},
		{"path that ends in a space", "sources: {tool: {git: \"/x /\"}}", []string{"sources.tool.git"}},
		{"long path", "sources: {tool: {git: /" + strings.Repeat("x", 4096) + "}}", []string{"sources.tool.git"}},
		{"home that is not known", "sources: {tool: {git: ~/x}}", []string{"sources.tool.git", "$HOME"}},
		{"home in a list", "sources: {tool: {files: [~/x]}}", []string{"sources.tool.files", "$HOME"}},
		{"text for a list", "sources: {tool: {files: /x}}", []string{"sources.tool.files", "a list of absolute paths", "text"}},
		{"section for a list", "sources: {tool: {files: {a: /x}}}", []string{"sources.tool.files", "a list", "a section"}},
		{"list in a list", "sources:\n  tool:\n    files:\n      - /a\n      - [/x]\n", []string{":5", "sources.tool.files", "absolute", "a list"}},
		{"relative path in a list", "sources: {tool: {sqlite: [/a.db, b.db]}}", []string{"sources.tool.sqlite", `"b.db"`}},
		{"path twice", "sources: {tool: {sqlite: [/a.db, /x/../a.db]}}", []string{"sources.tool.sqlite", `"/a.db"`, "twice"}},
		{"list for one path", "sources: {tool: {git: [/x]}}", []string{"sources.tool.git", "absolute", "a list"}},
		{"many paths", "sources: {tool: {files: [" + strings.Join(many, ", ") + "]}}", []string{"sources.tool.files", "257", "256"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(fileInput(tt.text))
			wantError(t, tt.name, err, amber.KindInvalid, append(tt.words, testPath)...)
		})
	}
}

func TestSourcesInTheEnvironmentReject(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		variable, value string
		words           []string
	}{
		{"AMBER_SOURCES__TOOL", "/x", []string{"sources.tool", "section"}},
		{"AMBER_SOURCES__TOOL__FOLDER", "/x", []string{`"folder"`, "sources.tool"}},
		{"AMBER_SOURCES__MY__TOOL__GIT", "/x", []string{`"tool"`, "sources.my"}},
		{"AMBER_SOURCES___X__GIT", "/x", []string{`"_x"`}},
		{"AMBER_SOURCES__tool__GIT", "/x", []string{"AMBER_SOURCES__TOOL__GIT"}},
		{"AMBER_SOURCES__TOOL__GIT", "x", []string{"sources.tool.git", "absolute"}},
		{"AMBER_SOURCES__TOOL__FILES", list("/x", "y"), []string{"sources.tool.files", `"y"`}},
		{"AMBER_SNAPSHOT__ROOT", "repo", []string{"snapshot.root", "absolute"}},
		{"AMBER_SNAPSHOT__AUTO__BEFORE_CONSOLIDATION", "perhaps", []string{"require, try, off", `"perhaps"`}},
	} {
		_, err := config.Load(config.Input{Environ: []string{tt.variable + "=" + tt.value}})
		wantError(t, tt.variable, err, amber.KindInvalid, append(tt.words, tt.variable)...)
	}
}

// TestSourcesOfAConfigAreChecked covers a configuration that was never loaded.
func TestSourcesOfAConfigAreChecked(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]config.Foreign{
		"../up": {Git: "/x"}, "a": {Git: "x"}, "b": {SQLite: []string{""}}, "c": {Files: []string{"/x", "/x"}},
	} {
		c := config.Default()
		c.Sources = map[string]config.Foreign{name: f}
		wantError(t, name, newHouse(t).Check(c), amber.KindInvalid, "sources")
	}
	c := config.Default()
	c.Snapshot.Auto.BeforeConsolidation = "sometimes"
	wantError(t, "choice", newHouse(t).Check(c), amber.KindInvalid, "snapshot.auto.before_consolidation")
}

func TestChoicesAreWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]config.Insistence{"off": config.Off, "Require": config.Require, "\"try\"": config.Try} {
		l := load(t, fileInput("snapshot: {auto: {before_consolidation: "+text+"}}"))
		must.Equal(t, text, l.Config.Snapshot.Auto.BeforeConsolidation, want)
	}
	_, err := config.Load(fileInput("snapshot: {auto: {before_consolidation: false}}"))
	wantError(t, "a bool", err, amber.KindInvalid, "require, try, off", "false")
}

func TestSnapshotRootMayBeBelowTheUser(t *testing.T) {
	t.Parallel()
	in := fileInput("snapshot: {root: ~/backup/amber}")
	in.Environ = []string{"HOME=/nowhere", "HOME=/home/ann"}
	if got, want := load(t, in).Config.Snapshot.Root, filepath.FromSlash("/home/ann/backup/amber"); got != want {
		t.Errorf("root is %q, want %q", got, want)
	}
}

func TestSnapshotRootMayBeABucket(t *testing.T) {
	t.Parallel()
	for value, ok := range map[string]bool{
		"s3://memories/amber":                  true,
		"s3+https://host.example/memories":     true,
		"s3:http://127.0.0.1:9000/memories":    true,
		"s3://id:secret@host.example/memories": false,
		"s3:":                                  false,
		"gs://memories":                        false,
		"memories":                             false,
	} {
		l, err := config.Load(config.Input{Flags: map[string]string{"snapshot.root": value}})
		if (err == nil) != ok || ok && l.Config.Snapshot.Root != value {
			t.Errorf("%s: got %q, %v", value, l.Config.Snapshot.Root, err)
		}
	}
}
