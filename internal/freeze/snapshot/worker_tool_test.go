package snapshot_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestBeforeMutatingToolTakesASnapshotAsFarAsInsistedOn(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	for _, tt := range []struct {
		insist   snapshot.Insistence
		err      error
		taken    bool
		fails    bool
		warnings int
	}{
		{"", nil, false, false, 0},
		{snapshot.Off, full, false, false, 0},
		{snapshot.Try, nil, true, false, 0},
		{snapshot.Try, full, false, false, 1},
		{snapshot.Require, nil, true, false, 0},
		{snapshot.Require, full, false, true, 0},
	} {
		clock, everybody := newWorkClock(), people{"acme": {"ada"}}
		s := newAlbum(clock, everybody)
		warnings := 0
		g := snapshot.ToolGuard{
			Taker: &stubborn{Taker: s, agent: "ada", err: tt.err}, Insist: tt.insist, Warn: func(string) { warnings++ },
		}
		id, err := g.BeforeMutatingTool(t.Context(), "acme", "ada", "Bash")
		if (err != nil) != tt.fails || (id != "") != tt.taken || warnings != tt.warnings {
			t.Errorf("%q with %v: %q, %v, %d warnings", tt.insist, tt.err, id, err, warnings)
		}
		if all := list(t, s, "acme", "ada"); tt.taken && (len(all) != 1 || all[0].ID != id || all[0].Label != "auto:pre-tool-Bash") {
			t.Errorf("%q: %+v", tt.insist, all)
		}
	}
}

// Before an agent exists there is nothing to lose, so a tool may run.
func TestBeforeMutatingToolWithoutAnAgent(t *testing.T) {
	t.Parallel()
	g := snapshot.ToolGuard{Taker: newAlbum(newWorkClock(), nil), Insist: snapshot.Require}
	if id, err := g.BeforeMutatingTool(t.Context(), "acme", "nobody", "Bash"); id != "" || err != nil {
		t.Errorf("got %q, %v", id, err)
	}
	must.Fail(g.BeforeMutatingTool(t.Context(), "acme", "../x", "Bash"))(t, "before mutating tool", amber.KindInvalid)
}

// Names of tools come from outside: any of them makes a label.
func TestAnyToolNameMakesALabel(t *testing.T) {
	t.Parallel()
	clock, everybody := newWorkClock(), people{"acme": {"ada"}}
	for tool, want := range map[string]string{
		"":                       "unnamed",
		"mcp__shop__buy":         "mcp__shop__buy",
		"two\nlines \x1b[2J":     "two_lines__[2J",
		"\xff\xfe":               "__",
		strings.Repeat("x", 300): strings.Repeat("x", 186),
		strings.Repeat("ä", 300): strings.Repeat("ä", 93),
	} {
		s := newAlbum(clock, everybody)
		g := snapshot.ToolGuard{Taker: s, Insist: snapshot.Require}
		if _, err := g.BeforeMutatingTool(t.Context(), "acme", "ada", tool); err != nil {
			t.Errorf("%q: %v", tool, err)
			continue
		}
		label := list(t, s, "acme", "ada")[0].Label
		must.Hold(t, label == "auto:pre-tool-"+want && utf8.ValidString(label), "%q: the label is %q", tool, label)
	}
}
