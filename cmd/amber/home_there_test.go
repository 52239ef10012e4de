package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/test/must"
)

// makesHome are the verbs that may be the first in a home. Each other verb reads what is there, or changes it, so a home that
// --home names and that is not there is a typing error.
var makesHome = []string{
	"approval request", "bundle import", "compaction add", "event append", "import", "journal append", "journal import", "key new", "key trust",
	"loop save", "mcp", "migrate", "move", "note write", "project set", "queue publish", "remember", "repo add", "result save", "serve", "session start",
	"session state set", "snapshot restore", "state set", "sync hook install", "sync import", "sync watch", "task save", "token create", "tui",
	"turn add", "ui", "vault backup", "vault restore",
}

// needsNone are the families and verbs that look at no home, or look for one with their own words.
var needsNone = []string{"completion", "config", "demo", "eval", "help", "hook", "key verify", "man", "redact", "setup", "version"}

// Every verb of the tree is in one of three groups, and a dry run makes no home.
func TestOnlyVerbsThatWriteMakeAHome(t *testing.T) {
	a := &app{&cli.App{World: process()}}
	root := a.rootCommand()
	a.Global.Home = filepath.Join(t.TempDir(), "nowhere")
	asked := 0
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			look(c)
		}
		path := strings.TrimPrefix(cmd.CommandPath(), "amber ")
		if cmd == root || slices.Contains(needsNone, strings.Fields(path)[0]) || slices.Contains(needsNone, path) || cmd.HasSubCommands() && path != "import" && path != "project" {
			return
		}
		asked++
		want := amber.KindNotFound
		if slices.Contains(makesHome, path) {
			want = ""
		}
		if got := amber.KindOf(a.CheckAgent(cmd)); got != want {
			t.Errorf("%s in a home that is not there: %q, want %q", path, got, want)
		}
		if cmd.Flags().Lookup("dry-run") != nil {
			must.Do(t, cmd.Flags().Set("dry-run", "true"))
			must.Equal(t, path+" --dry-run", amber.KindOf(a.CheckAgent(cmd)), amber.KindNotFound)
		}
	}
	look(root)
	if asked < 120 {
		t.Errorf("%d verbs were asked, want every verb", asked)
	}
}
