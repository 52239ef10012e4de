package window

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// helpPanel lists every key that works on the page; typing searches it.
type helpPanel struct {
	page   string
	own    []Action
	shared []Action
	search edit
	scroll int
}

func (sh *Shell) openHelp() tea.Cmd {
	sh.Over = &helpPanel{page: sh.path(), own: sh.Page().Actions, shared: sh.common()}
	return nil
}

func (h *helpPanel) title() string { return "help: " + h.page }
func (h *helpPanel) help() string  { return "type to search · up and down scroll · esc back" }

func (h *helpPanel) press(sh *Shell, k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc", "enter":
		sh.Over = nil
	case "down", "ctrl+d", "pgdown":
		h.scroll = min(h.scroll+1, len(h.own)+len(h.shared))
	case "up", "ctrl+u", "pgup":
		h.scroll = max(h.scroll-1, 0)
	default:
		h.search.key(k)
		h.scroll = 0
	}
	return nil
}

// found are the actions that hold every word that was typed.
func (h *helpPanel) found(list []Action) (out []Action) {
	words := strings.Fields(strings.ToLower(h.search.String()))
next:
	for _, a := range list {
		text := strings.ToLower(a.key + " " + a.word + " " + a.help)
		for _, w := range words {
			if !strings.Contains(text, w) {
				continue next
			}
		}
		out = append(out, a)
	}
	return out
}

func (h *helpPanel) draw(columns, height int) []line {
	shown, _ := h.search.draw(max(columns-9, 1))
	lines := []line{{cli.Bold, Cut("search: "+shown, columns)}}
	var keys []line
	for _, part := range []struct {
		name string
		list []Action
	}{{h.page, h.own}, {"every screen", h.shared}} {
		found := h.found(part.list)
		if len(found) == 0 {
			continue
		}
		keys = append(keys, line{cli.Dim, OneLine(part.name, columns)})
		for _, a := range found {
			keys = append(keys, line{"", Cut(pad(a.key, 8)+pad(a.word, 14)+a.help, columns)})
		}
	}
	if len(keys) == 0 {
		keys = []line{{cli.Dim, "no key has these words"}}
	}
	from := min(h.scroll, max(len(keys)-max(height-1, 1), 0))
	return append(lines, keys[from:]...)
}
