package config_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

var update = flag.Bool("update", false, "rewrite the generated part of docs/config.md")

var docsPath = filepath.Join("..", "docs", "config.md")

const docsMark = "<!-- generated from the schema by `go test ./config -update`; do not edit below this line -->\n"

// readDocs returns docs/config.md, cut behind the mark.
func readDocs(t *testing.T) (intro, generated string) {
	t.Helper()
	data := must.Get(os.ReadFile(docsPath))(t)
	// A checkout may have turned the line ends.
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	intro, generated, ok := strings.Cut(text, docsMark)
	if !ok {
		t.Fatalf("%s has no line %q", docsPath, docsMark)
	}
	return intro, generated
}

func TestDocs(t *testing.T) {
	intro, got := readDocs(t)
	want := docsTables(t)
	if *update {
		must.Do(t, os.WriteFile(docsPath, []byte(intro+docsMark+want), 0o644))
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not what the schema says; run go test ./config -update (-want +got):\n%s", docsPath, diff)
	}
}

// docsTables writes the schema as Markdown.
func docsTables(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("\n| key | type | default | at most | what it does |\n|---|---|---|---|---|\n")
	for _, k := range config.Keys() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Path, docsType(k), docsValue(t, k, k.Default), docsCap(t, k), k.Doc)
	}
	b.WriteString("\n## Every variable\n\n| key | variable |\n|---|---|\n")
	for _, k := range config.Keys() {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", k.Path, k.Env())
	}
	return b.String()
}

// docsType returns the values or the type that a value may have, as the document shows them.
func docsType(k config.Key) string {
	if len(k.Choices) > 0 {
		return "`" + strings.Join(k.Choices, "`, `") + "`"
	}
	return string(k.Type)
}

// tenants begins the keys of which each tenant may have its own.
const tenants = "server.vault.tenants.<name>."

// docsCap writes the cap of a key, where it has one.
func docsCap(t *testing.T, k config.Key) string {
	t.Helper()
	if k.Cap == nil {
		return ""
	}
	k.Path = strings.Replace(k.Path, "<name>", "tool", 1)
	return docsValue(t, k, k.Cap)
}

// docsValue writes a value the way `config show` does.
func docsValue(t *testing.T, k config.Key, v any) string {
	t.Helper()
	switch {
	case v == nil && strings.HasPrefix(k.Path, tenants):
		return "`server.vault." + strings.TrimPrefix(k.Path, tenants) + "`"
	case v == nil:
		return ""
	case k.Type == config.Extensions:
		return "`" + strings.Join(v.([]string), "`, `") + "`"
	case k.Named() && !strings.HasPrefix(k.Path, tenants):
		return "none"
	case k.Path == "snapshot.root", k.Path == "snapshot.encryption.identity":
		return "in the home"
	case k.Type == config.Recipients, k.Type == config.Scopes, k.Type == config.Patterns, k.Type == config.Servers, k.Type == config.Path, v == "" && slices.Contains([]config.Type{config.URL, config.OptionalLabel, config.Variable}, k.Type):
		return "none"
	case v == "":
		return "`memory.backend`"
	}
	l := load(t, config.Input{Flags: map[string]string{k.Path: fmt.Sprint(v)}})
	return fmt.Sprintf("`%v`", valueOf(t, l, k.Path).Value)
}

// block returns the first code block of a language at or after a heading.
func block(t *testing.T, text, heading, lang string) string {
	t.Helper()
	_, after, ok := strings.Cut(text, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("there is no heading %q", heading)
	}
	_, after, ok = strings.Cut(after, "```"+lang+"\n")
	if !ok {
		t.Fatalf("there is no %s below %q", lang, heading)
	}
	code, _, _ := strings.Cut(after, "```")
	return code
}

// TestDocsExample checks that the example does what the page says, in a file
// and in the environment.
func TestDocsExample(t *testing.T) {
	t.Parallel()
	intro, _ := readDocs(t)
	want := config.Default()
	want.Memory.Recall.TopK = 12
	want.Memory.Write.Enabled = false
	want.Control.Queue.Lease = 2 * time.Minute

	file := load(t, fileInput(block(t, intro, "An example", "yaml")))
	must.Equal(t, "file", file.Config, want)
	var environ []string
	for line := range strings.Lines(block(t, intro, "An example", "sh")) {
		environ = append(environ, strings.TrimSpace(strings.TrimPrefix(line, "export ")))
	}
	env := load(t, config.Input{Environ: environ})
	must.Equal(t, "environment", env.Config, want)
	sources := fileInput(block(t, intro, "Memory of other tools", "yaml"))
	sources.Environ = []string{"HOME=/home/ann"}
	want = config.Default()
	want.Sources = map[string]config.Foreign{"engram": {
		Git: "/home/ann/.engram/notes", SQLite: []string{"/home/ann/.engram/engram.db"}, Files: []string{"/home/ann/.engram/config.json", "/srv/engram/exports"},
	}}
	must.Equal(t, "sources", load(t, sources).Config, want)
	want = config.Default()
	want.Snapshot.Auto.Schedule = "*/30 8-18 * * mon-fri"
	must.Equal(t, "schedules", load(t, fileInput(block(t, intro, "Schedules", "yaml"))).Config, want)
	vaults := fileInput(block(t, intro, "Vaults", "yaml"))
	vaults.Environ = []string{"HOME=/home/ann"}
	want = config.Default()
	want.Vault = config.Vault{
		URL: "https://thecolony.ai/api/v1", APIKeyFile: "/home/ann/.config/amber/vault.key", Label: "default", Schedule: "1d", AfterSession: true, Keep: 5,
	}
	quota, none := config.Bytes(100<<20), 0
	want.Server.Vault.Tenants = map[string]config.VaultOverride{"acme": {Quota: &quota, OperationsPerHour: &none}}
	must.Equal(t, "vaults", load(t, vaults).Config, want)
	layers := load(t, fileInput(block(t, intro, "Layers and backends", "yaml")))
	must.Equal(t, "layers", layers.Config, config.Default())
}
