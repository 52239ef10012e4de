package window

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/clip"
)

// overlay is a panel that has every key until it is closed.
type overlay interface {
	press(sh *Shell, k tea.KeyPressMsg) tea.Cmd
	draw(columns, height int) []line
	title() string
	help() string // for the last line
}

// drawOver draws the panel over the frame, from below the header.
func (sh *Shell) drawOver(rows []string) {
	w := sh.Width
	lines := sh.Over.draw(max(w-4, 1), max(len(rows)-4, 1))
	top := 0
	if len(rows) > 4 {
		top = 1
	}
	head := "╭─ " + Cut(sh.Over.title(), max(w-6, 0)) + " "
	rows[top] = styled(cli.Bold, Cut(head+strings.Repeat("─", max(w-width(head)-1, 0))+"╮", w))
	y := top + 1
	for _, ln := range lines {
		if y >= len(rows)-2 {
			break
		}
		rows[y] = "│ " + styled(ln.style, pad(ln.text, max(w-4, 0))) + " │"
		y++
	}
	if y < len(rows) {
		rows[y] = styled(cli.Bold, "╰"+strings.Repeat("─", max(w-2, 0))+"╯")
	}
}

// confirm asks before something that changes the store. The key that asks and the key that
// confirms are different ones, so that a key that is held down confirms nothing.
type confirm struct {
	question string
	about    Document
	yes      func() tea.Cmd
}

func (c *confirm) title() string { return c.question }
func (c *confirm) help() string  { return "enter yes · esc no" }

func (c *confirm) press(sh *Shell, k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		sh.Over = nil
		return c.yes()
	case "esc", "q", "n":
		sh.Over = nil
		return sh.Say("nothing was changed")
	}
	return nil
}

func (c *confirm) draw(columns, _ int) []line {
	return append(c.about.lay(columns), line{}, line{cli.Bold, "enter: yes    esc: no"})
}

// Confirm opens the question.
func (sh *Shell) Confirm(question string, about Document, yes func() tea.Cmd) tea.Cmd {
	sh.Over = &confirm{question, about, yes}
	return nil
}

// notice shows something until a key is pressed.
type notice struct{ about Document }

func (n *notice) title() string { return "error" }
func (n *notice) help() string  { return "enter or esc: back" }

func (n *notice) press(sh *Shell, k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "enter", "esc", "q":
		sh.Over = nil
	}
	return nil
}

func (n *notice) draw(columns, _ int) []line { return n.about.lay(columns) }

// menu lets the user choose one of a few things by a letter.
type menu struct {
	name  string
	items []choice
}

type choice struct {
	key, word string
	do        func() tea.Cmd
}

func (c *menu) title() string { return c.name }
func (c *menu) help() string  { return "press a letter · esc back" }

func (c *menu) press(sh *Shell, k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "esc" || k.String() == "q" {
		sh.Over = nil
		return nil
	}
	for _, item := range c.items {
		if item.key == k.String() {
			sh.Over = nil
			return item.do()
		}
	}
	return nil
}

func (c *menu) draw(columns, _ int) (lines []line) {
	for _, item := range c.items {
		lines = append(lines, line{"", OneLine(item.key+"  "+item.word, columns)})
	}
	return lines
}

// maxCopied bounds what goes to the clipboard: terminals drop longer sequences.
const maxCopied = 64 << 10

// copyMenu offers what can be copied of the row under the cursor.
func (sh *Shell) copyMenu() tea.Cmd {
	p := sh.Page()
	r, ok := p.Current()
	if p.Load == nil {
		r, ok = Row{Text: p.Doc.Plain()}, len(p.Doc) > 0
	}
	if !ok {
		return sh.Say("there is nothing to copy here")
	}
	var items []choice
	for _, o := range []struct{ key, word, text string }{{"i", "id", r.ID}, {"t", "text", r.Text}, {"c", "command", r.Command}} {
		if o.text != "" {
			items = append(items, choice{o.key, o.word + ": " + o.text, func() tea.Cmd { return sh.copy(o.word, o.text) }})
		}
	}
	sh.Over = &menu{"copy", items}
	return nil
}

// copy puts text into the clipboard of the terminal, by OSC 52.
func (sh *Shell) copy(what, text string) tea.Cmd {
	if len(text) > maxCopied {
		text = clip.Bytes(text, maxCopied)
		sh.Say("copied the first 64 KiB of the " + what + ", if the terminal allows it")
	} else {
		sh.Say("copied the " + what + ", if the terminal allows it")
	}
	return tea.SetClipboard(text)
}
