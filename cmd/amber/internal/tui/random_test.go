package tui

import (
	"math/rand/v2"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// steps is how many random things are done to the UI.
const steps = 10_000

// keyPool is what is pressed: every key that does something, and some letters.
var keyPool = []string{
	"j", "k", "g", "G", "ctrl+d", "ctrl+u", "enter", "enter", "esc", "esc", "esc", "/", "?", "y", ":", "tab", "shift+tab", "down", "up", "pgdown", "pgup", "home", "end",
	"left", "right", "backspace", "delete", "ctrl+w", "ctrl+k", "space", "1", "2", "3", "4", "5", "6", "7", "8", "9",
	"w", "c", "a", "t", "h", "d", "e", "r", "x", "D", "u", "f", "l", "n", "v", "R", "p", "i", "first", "database", "世界", "é", "\u202e", "👩‍👩‍👧",
}

// Whatever is pressed in whatever order, the program goes on and every frame fits its window.
func TestRandomKeys(t *testing.T) {
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 7))
		w := newWorld(t, fill)
		w.desk.typed = func(text string) string {
			if random.IntN(3) == 0 {
				return text
			}
			return text + " and more"
		}
		for range steps / 4 {
			switch n := random.IntN(40); {
			case n == 0:
				sizes := [][2]int{{80, 24}, {120, 40}, {20, 5}, {1, 1}, {3, 2}, {100, 3}, {99, 10}, {200, 60}, {0, 0}, {40, 4}}
				s := sizes[random.IntN(len(sizes))]
				w.size(s[0], s[1])
			case n == 1:
				w.tick()
			case n == 2:
				w.send(tea.MouseClickMsg{X: random.IntN(w.m.Width + 1), Y: random.IntN(w.m.Height + 1), Button: tea.MouseLeft})
			case n == 3:
				w.send(tea.MouseWheelMsg{X: random.IntN(w.m.Width + 1), Y: random.IntN(w.m.Height + 1), Button: []tea.MouseButton{tea.MouseWheelDown, tea.MouseWheelUp}[random.IntN(2)]})
			case n == 4:
				w.send(tea.PasteMsg{Content: "pasted\x1b[2J\ntext\u202e"})
			default:
				w.press(keyPool[random.IntN(len(keyPool))])
			}
			w.fits()
			harmless(t, w.m.View())
		}
		if w.m.Ctx.Err() != nil && !w.quit {
			t.Error("the program stopped without a key that ends it")
		}
	}
}

func TestTinyWindows(t *testing.T) {
	for _, f := range frames {
		w := newWorld(t, fill)
		w.press(f.keys...)
		for _, s := range [][2]int{{20, 5}, {1, 1}, {2, 3}, {10, 2}, {500, 1}, {1, 100}, {0, 0}, {20, 5}} {
			w.size(s[0], s[1]).fits()
		}
		if w.frame() == "" {
			t.Error("a window of 20 x 5 shows nothing")
		}
	}
}
