package archtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/archtest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestGoroutinesMeetTheRaceDetector(t *testing.T) {
	for _, b := range must.Get(archtest.Races("../.."))(t) {
		t.Error(b)
	}
}

func TestRacesFindsWhatIsLeftOut(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		"Makefile":            "A := x\nRACED := a $(addprefix internal/, b \\\n\tc)\nUNRACED := slow\nMARKED := d e\n",
		"a/x.go":              "package a\n",
		"internal/b/x.go":     "package b\n\nfunc f() { go f() }\n",
		"d/x.go":              "package d\n",
		"d/x_test.go":         "package d\n\nfunc TestX(t *testing.T) {\n\trace.Lane(t)\n}\n",
		"e/x.go":              "package e\n",
		"e/x_test.go":         "package e\n\nfunc TestX(t *testing.T) {\n}\n",
		"slow/x.go":           "package slow\n\nfunc f() { go f() }\n",
		"left/x.go":           "package left\n\nfunc f() { var w sync.WaitGroup; w.Go(f) }\n",
		"left/x_test.go":      "package left\n\nfunc TestX(t *testing.T) {\n\tx()\n\trace.Lane(t)\n}\n",
		"tools/bench/main.go": "package main\n\nfunc f() { go f() }\n",
	} {
		file = filepath.Join(root, filepath.FromSlash(file))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	}
	got := must.Get(archtest.Races(root))(t)
	want := []string{
		"e is in MARKED, and none of its tests is marked with race.Lane",
		"internal/c is in a list of the race detector in the Makefile and no package",
		"left starts goroutines, and no list of the race detector in the Makefile has it",
		"left/x_test.go has race.Lane elsewhere than in the first line of a test in a package of MARKED",
	}
	must.Equal(t, "what is left out", got, want)
}
