package transfer_test

// The format of docs/import.md: a test there holds the two together.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/test/must"
)

// begin of the example
// Diary is a file diary.txt with one memory a line: "2026-01-02 Text".
var Diary = foreign.Format{
	Name:  "diary", // in ids and links: it never changes
	Title: "Diary",
	Detect: func(t *foreign.Tree) foreign.Match {
		return foreign.SureIf(len(t.Matching("diary.txt")) > 0)
	},
	Read: func(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
		for _, f := range t.Matching("diary.txt") {
			if err := readDiary(ctx, f, o, to); err != nil {
				return err
			}
		}
		return nil
	},
}

func readDiary(ctx context.Context, f foreign.File, o foreign.Options, to foreign.Sink) error {
	return f.EachLine(ctx, to.Skip, func(n int64, line []byte) error {
		at := f.Line(n)
		date, text, _ := strings.Cut(string(line), " ")
		when, err := foreign.Text(date)
		if err != nil {
			to.Skip(at, "%s", err)
			return nil
		}
		m := foreign.Memory{Place: at, Key: foreign.Key{date}, Kind: amber.UserFact, Content: text, CreatedAt: when}
		m.ProjectID = o.Project
		return to.Memory(m)
	})
}

// end of the example

func TestTheExampleOfTheDocumentationWorks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	file := filepath.Join(t.TempDir(), "diary.txt")
	put := func(text string) { must.Do(t, os.WriteFile(file, []byte(text), 0o600)) }
	run := func() string {
		tree := must.Get(foreign.Open(file))(t)
		defer tree.Close()
		f := must.Get(transfer.Detect(tree, []foreign.Format{toy, Diary}))(t)
		r := must.Get(transfer.Import(t.Context(), b.store, f, tree, b.o))(t)
		return fmt.Sprint(r.New, " ", r.Changed, " ", r.Known, " ", r.Skipped)
	}
	put("2026-01-02 Moved to Lisbon\n2026-01-03 Bought a bike\nno date\n")
	must.Equal(t, "first", run(), "2 0 0 1")
	put("2026-01-02 Moved to Porto\n2026-01-03 Bought a bike\n")
	must.Equal(t, "second", run(), "0 1 1 0")

	source := string(must.Get(os.ReadFile("example_format_test.go"))(t))
	_, code, _ := strings.Cut(source, "// begin of the example\n")
	code, _, _ = strings.Cut(code, "\n// end of the example")
	doc := string(must.Get(os.ReadFile("../../../../docs/import.md"))(t))
	if !strings.Contains(doc, strings.TrimSpace(code)) {
		t.Error("docs/import.md does not have the example as it is tested here")
	}
	if n := strings.Count(code, "\n"); n > 45 {
		t.Errorf("the example has %d lines, want about 40", n)
	}
}
