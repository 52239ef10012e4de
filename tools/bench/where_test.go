package main

import (
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestWatchedMainFitsTheCommand checks what the binary that looks at itself is
// made of without building it: its main, and the main it takes the place of.
func TestWatchedMainFitsTheCommand(t *testing.T) {
	t.Parallel()
	must.NoError(t, must.Err(parser.ParseFile(token.NewFileSet(), "main.go", whereMain, 0)))
	b := must.Get(os.ReadFile("../../cmd/amber/main.go"))(t)
	if !strings.Contains(string(b), productMain) {
		t.Errorf("cmd/amber/main.go has no %q", productMain)
	}
	if want := "run(ctx, os.Args[1:], process())"; !strings.Contains(string(b), want) || !strings.Contains(string(whereMain), want) {
		t.Errorf("one of the two does not call %s", want)
	}
}
