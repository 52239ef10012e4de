package web_test

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// terminalPage is a page that looks like a terminal.
func terminalPage(pane string) string {
	return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>terminal</title><style>
body { margin: 0; background: #171512; }
pre { display: inline-block; margin: 0; padding: 14px 18px; background: #171512; color: #ece6da; font: 15px/1.16 "DejaVu Sans Mono", Menlo, Consolas, monospace; }
</style></head><body><pre>` + ansiToHTML(strings.TrimRight(pane, "\n")) + `</pre></body></html>`
}

var sgr = regexp.MustCompile("\x1b\\[([0-9;:]*)m")

// pen is how a terminal writes.
type pen struct {
	fore, back                         string
	bold, dim, italic, line, turnedOut bool
}

// ansiToHTML draws colours and weights of a terminal with spans.
func ansiToHTML(pane string) string {
	var b strings.Builder
	var p pen
	last := 0
	write := func(s string) {
		if s != "" {
			fmt.Fprintf(&b, `<span style="%s">%s</span>`, p.style(), html.EscapeString(s))
		}
	}
	for _, m := range sgr.FindAllStringSubmatchIndex(pane, -1) {
		write(pane[last:m[0]])
		p.set(strings.FieldsFunc(pane[m[2]:m[3]], func(r rune) bool { return r == ';' || r == ':' }))
		last = m[1]
	}
	write(pane[last:])
	return b.String()
}

func (p pen) style() string {
	fore, back := p.fore, p.back
	if p.turnedOut {
		if fore == "" {
			fore = "#ece6da"
		}
		if back == "" {
			back = "#171512"
		}
		fore, back = back, fore
	}
	var s string
	for _, one := range []struct {
		on   bool
		says string
	}{{fore != "", "color:" + fore}, {back != "", "background:" + back}, {p.bold, "font-weight:bold"}, {p.dim, "opacity:.65"}, {p.italic, "font-style:italic"}, {p.line, "text-decoration:underline"}} {
		if one.on {
			s += one.says + ";"
		}
	}
	return s
}

// set does what the numbers of one sequence say.
func (p *pen) set(numbers []string) {
	if len(numbers) == 0 {
		*p = pen{}
	}
	for i := 0; i < len(numbers); i++ {
		n, err := strconv.Atoi(numbers[i])
		if err != nil {
			return
		}
		switch {
		case n == 38 || n == 48:
			c, used := colourOf(numbers[i+1:])
			if n == 38 {
				p.fore = c
			} else {
				p.back = c
			}
			i += used
		default:
			p.one(n)
		}
	}
}

func (p *pen) one(n int) {
	switch {
	case n == 0:
		*p = pen{}
	case n == 1:
		p.bold = true
	case n == 2:
		p.dim = true
	case n == 3:
		p.italic = true
	case n == 4:
		p.line = true
	case n == 7:
		p.turnedOut = true
	case n == 22:
		p.bold, p.dim = false, false
	case n == 23:
		p.italic = false
	case n == 24:
		p.line = false
	case n == 27:
		p.turnedOut = false
	case n >= 30 && n <= 37:
		p.fore = indexed(n - 30)
	case n == 39:
		p.fore = ""
	case n >= 40 && n <= 47:
		p.back = indexed(n - 40)
	case n == 49:
		p.back = ""
	case n >= 90 && n <= 97:
		p.fore = indexed(n - 90 + 8)
	case n >= 100 && n <= 107:
		p.back = indexed(n - 100 + 8)
	}
}

// colourOf reads a colour by its number or its parts, and returns how many numbers that took.
func colourOf(numbers []string) (string, int) {
	var n [4]int
	for i := range min(len(numbers), 4) {
		n[i], _ = strconv.Atoi(numbers[i]) // what is no number is black
	}
	switch {
	case len(numbers) >= 2 && n[0] == 5:
		return indexed(n[1]), 2
	case len(numbers) >= 4 && n[0] == 2:
		return fmt.Sprintf("#%02x%02x%02x", n[1], n[2], n[3]), 4
	}
	return "", len(numbers)
}

var basic = [16]string{"#3d382f", "#ff9d96", "#7fd6a0", "#f3c36b", "#93b8ff", "#d7a6e8", "#8fd8d2", "#d8d1c2", "#8a8272", "#ff9d96", "#7fd6a0", "#f7b25c", "#93b8ff", "#d7a6e8", "#8fd8d2", "#ffffff"}

// indexed is one of the 256 colours of a terminal.
func indexed(n int) string {
	switch {
	case n < 0 || n > 255:
		return ""
	case n < 16:
		return basic[n]
	case n >= 232:
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
	level := func(v int) int {
		if v == 0 {
			return 0
		}
		return 55 + 40*v
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
}

func TestColoursOfATerminal(t *testing.T) {
	t.Parallel()
	for pane, want := range map[string]string{
		"a<b":                             `<span style="">a&lt;b</span>`,
		"\x1b[1mx\x1b[0my":                `<span style="font-weight:bold;">x</span><span style="">y</span>`,
		"\x1b[38;5;214mx":                 `<span style="color:#ffaf00;">x</span>`,
		"\x1b[48;2;1;2;3m\x1b[31mx\x1b[m": `<span style="color:#ff9d96;background:#010203;">x</span>`,
		"\x1b[7mx":                        `<span style="color:#171512;background:#ece6da;">x</span>`,
	} {
		must.Equal(t, pane, ansiToHTML(pane), want)
	}
}
