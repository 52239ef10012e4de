package tui

import (
	"flag"
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/golden"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// frames are the keys that lead to each screen and page.
var frames = []struct {
	name string
	keys []string
}{
	{"1-recall", []string{"which database", "enter"}},
	{"1-context", []string{"database", "esc", "c"}},
	{"1-as-of", []string{"esc", "a"}},
	{"2-memories", []string{"esc", "2", "x"}},
	{"2-history", []string{"esc", "2", "G", "h"}},
	{"2-diff", []string{"esc", "2", "G", "h", "d"}},
	{"2-forget", []string{"esc", "2", "x", "x", "D"}},
	{"3-sessions", []string{"esc", "3"}},
	{"3-turns", []string{"esc", "3", "enter", "f"}},
	{"4-notes", []string{"esc", "4"}},
	{"4-diff", []string{"esc", "4", "d"}},
	{"5-snapshots", []string{"esc", "5"}},
	{"5-restore", []string{"esc", "5", "R"}},
	{"6-conflicts", []string{"esc", "6"}},
	{"7-work", []string{"esc", "7"}},
	{"8-live", []string{"esc", "8"}},
	{"9-health", []string{"esc", "9", "r", "j"}},
	{"command", []string{"esc", ":", "snapshot "}},
	{"help", []string{"esc", "2", "?", "forget"}},
}

func TestFrames(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		for _, f := range frames {
			name := fmt.Sprintf("%dx%d/%s", size[0], size[1], f.name)
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, fill).size(size[0], size[1])
				w.press(f.keys...)
				if f.name == "8-live" {
					w.remember(amber.WriteRequest{Content: "something new"})
					w.tick()
				}
				golden.Check(t, *update, name, w.frame())
			})
		}
	}
}

func TestFramesOfAnEmptyAgent(t *testing.T) {
	for i := range 9 {
		w := newWorld(t).size(80, 24)
		w.press("esc", fmt.Sprint(i+1))
		golden.Check(t, *update, fmt.Sprintf("empty/%d", i+1), w.frame())
	}
}
