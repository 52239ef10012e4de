package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// overlay is a panel that has every key until it is closed.
type overlay interface {
	press(sh *shell, k tea.KeyPressMsg) tea.Cmd
	draw(columns, height int) []line
	title() string
	help() string // for the last line
}

// drawOver draws the panel over the frame, from below the header.
func (sh *shell) drawOver(rows []string) {
	w := sh.width
	lines := sh.over.draw(max(w-4, 1), max(len(rows)-4, 1))
	top := 0
	if len(rows) > 4 {
		top = 1
	}
	head := "╭─ " + cut(sh.over.title(), max(w-6, 0)) + " "
	rows[top] = styled(cli.Bold, cut(head+strings.Repeat("─", max(w-width(head)-1, 0))+"╮", w))
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
	about    document
	yes      func() tea.Cmd
}

func (c *confirm) title() string { return c.question }
func (c *confirm) help() string  { return "enter yes · esc no" }

func (c *confirm) press(sh *shell, k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		sh.over = nil
		return c.yes()
	case "esc", "q", "n":
		sh.over = nil
		return sh.say("nothing was changed")
	}
	return nil
}

func (c *confirm) draw(columns, _ int) []line {
	return append(c.about.lay(columns), line{}, line{cli.Bold, "enter: yes    esc: no"})
}

// confirm opens the question.
func (sh *shell) confirm(question string, about document, yes func() tea.Cmd) tea.Cmd {
	sh.over = &confirm{question, about, yes}
	return nil
}

// notice shows something until a key is pressed.
type notice struct{ about document }

func (n *notice) title() string { return "error" }
func (n *notice) help() string  { return "enter or esc: back" }

func (n *notice) press(sh *shell, k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "enter", "esc", "q":
		sh.over = nil
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

func (c *menu) press(sh *shell, k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "esc" || k.String() == "q" {
		sh.over = nil
		return nil
	}
	for _, item := range c.items {
		if item.key == k.String() {
			sh.over = nil
			return item.do()
		}
	}
	return nil
}

func (c *menu) draw(columns, _ int) (lines []line) {
	for _, item := range c.items {
		lines = append(lines, line{"", oneLine(item.key+"  "+item.word, columns)})
	}
	return lines
}

// maxCopied bounds what goes to the clipboard: terminals drop longer sequences.
const maxCopied = 64 << 10

// copyMenu offers what can be copied of the row under the cursor.
func (sh *shell) copyMenu() tea.Cmd {
	p := sh.page()
	r, ok := p.current()
	if p.load == nil {
		r, ok = row{text: p.doc.plain()}, len(p.doc) > 0
	}
	if !ok {
		return sh.say("there is nothing to copy here")
	}
	var items []choice
	for _, o := range []struct{ key, word, text string }{{"i", "id", r.id}, {"t", "text", r.text}, {"c", "command", r.command}} {
		if o.text != "" {
			items = append(items, choice{o.key, o.word + ": " + o.text, func() tea.Cmd { return sh.copy(o.word, o.text) }})
		}
	}
	sh.over = &menu{"copy", items}
	return nil
}

// copy puts text into the clipboard of the terminal, by OSC 52.
func (sh *shell) copy(what, text string) tea.Cmd {
	if len(text) > maxCopied {
		text = strings.ToValidUTF8(text[:maxCopied], "")
		sh.say("copied the first 64 KiB of the " + what + ", if the terminal allows it")
	} else {
		sh.say("copied the " + what + ", if the terminal allows it")
	}
	return tea.SetClipboard(text)
}
