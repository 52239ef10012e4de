package term_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/base/term"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "é": 1, "日本": 4, "e\u0301": 1, "\x1b[1mbold\x1b[0m": 4, "a…": 2} {
		must.Equal(t, fmt.Sprintf("Width(%q)", text), term.Width(text), want)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"abcdef", 6, "abcdef"}, {"abcdef", 5, "abcd…"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"abc", 1, "…"}} {
		must.Equal(t, fmt.Sprintf("Cut(%q, %d)", c.text, c.n), term.Cut(c.text, c.n), c.want)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text      string
		n, indent int
		want      string
	}{
		{"one two three", 0, 2, "one two three"},
		{"one two three", 13, 2, "one two three"},
		{"one two three", 9, 2, "one two|  three"},
		{"  one two three four", 9, 4, "  one two|    three|    four"},
		{"abcdefghij", 4, 0, "abcd|efgh|ij"},
		{"one abcdefghij", 6, 0, "one|abcdef|ghij"},
		{"an-id-of-its-own-0123456789", 18, 0, "an-id-of-its-own-|0123456789"},
		{"github.com/example/shop", 18, 0, "github.com/|example/shop"},
		{"a-bcdefghijkl", 8, 0, "a-bcdefg|hijkl"},
		{"abcdefgh-ij", 8, 0, "abcdefgh|-ij"},
		{"\x1b[1mone\x1b[0m two", 5, 0, "\x1b[1mone\x1b[0m|two"},
		{"日本語日本語", 4, 0, "日本|語日|本語"},
	} {
		if got := strings.Join(term.Wrap(c.text, c.n, c.indent), "|"); got != c.want {
			t.Errorf("Wrap(%q, %d, %d) = %q, want %q", c.text, c.n, c.indent, got, c.want)
		}
	}
}

func table() term.Table {
	return term.Table{Heading: []string{"ID", "NAME", "PROJECT", "NOTE"}, Rows: [][]string{
		{"host-session-0123456789", "a name of a session that is long", "github.com/example/some-repository", "prose that goes on and on, for more than a line of a terminal, and does not end soon"},
		{"s2", "short", "", "no"},
	}}
}

// Every line fits; an id is whole, also where it takes two lines.
func TestTableFits(t *testing.T) {
	for _, columns := range []int{60, 80, 100, 132} {
		var b bytes.Buffer
		must.Do(t, table().Write(&b, columns))
		for _, line := range strings.Split(b.String(), "\n") {
			if n := term.Width(line); n > columns {
				t.Errorf("in %d columns a line has %d: %q", columns, n, line)
			}
		}
		var ids string
		for _, line := range strings.Split(b.String(), "\n")[1:] {
			if line != "" && line[0] != ' ' {
				ids += strings.Fields(line)[0]
			}
		}
		if !strings.HasPrefix(ids, "host-session-0123456789") {
			t.Errorf("in %d columns the id is cut:\n%s", columns, b.String())
		}
	}
}

func TestTableInAPipeIsWhole(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, table().Write(&b, 0))
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 3 || strings.Contains(b.String(), "…") || !strings.HasSuffix(lines[1], "does not end soon") {
		t.Errorf("got:\n%s", b.String())
	}
	if at := strings.Index(lines[0], "NAME"); !strings.HasPrefix(lines[1][at:], "a name") || !strings.HasPrefix(lines[2][at:], "short") {
		t.Errorf("the columns are not aligned:\n%s", b.String())
	}
}

// drawn hands over what a bar draws, one call at a time.
type drawn chan string

func (d drawn) Write(b []byte) (int, error) {
	d <- string(b)
	return len(b), nil
}

func TestBarShowsAfterAMoment(t *testing.T) {
	out, ticks := make(drawn, 4), make(chan time.Time)
	began := time.Unix(1000, 0)
	stop := term.Bar{
		Out: out, What: "restoring", Columns: func() int { return 80 },
		Look: func() term.Progress { return term.Progress{Step: "pages", Done: 1, Total: 2} },
	}.Start(began, ticks)
	ticks <- began.Add(term.Patience - time.Millisecond)
	ticks <- began.Add(3 * time.Second)
	must.Equal(t, "drew", <-out, "\r\x1b[Kamber: restoring pages [###############...............]  50 %  3 s")
	stop()
	must.Equal(t, "the end drew", <-out, "\r\x1b[K")
}

func TestBarOfShortWorkNeverShows(t *testing.T) {
	out, ticks := make(drawn, 4), make(chan time.Time)
	began := time.Unix(1000, 0)
	stop := term.Bar{Out: out, Columns: func() int { return 80 }, Look: func() term.Progress { return term.Progress{} }}.Start(began, ticks)
	ticks <- began.Add(term.Patience / 2)
	stop()
	select {
	case got := <-out:
		t.Errorf("drew %q", got)
	default:
	}
}

func TestBarFits(t *testing.T) {
	for _, columns := range []int{20, 40, 80, 200} {
		for _, p := range []term.Progress{{}, {Step: "pages"}, {Step: strings.Repeat("step ", 30), Done: 5}, {Step: strings.Repeat("step ", 30), Done: 5, Total: 7}, {Done: 9, Total: 7}} {
			out, ticks := make(drawn, 4), make(chan time.Time)
			began := time.Unix(1000, 0)
			stop := term.Bar{Out: out, What: "verifying", Columns: func() int { return columns }, Look: func() term.Progress { return p }}.Start(began, ticks)
			ticks <- began.Add(time.Hour)
			if line := strings.TrimPrefix(<-out, "\r"); term.Width(line) >= columns || !strings.Contains(line, "3600 s") {
				t.Errorf("in %d columns: %q (%d)", columns, line, term.Width(line))
			}
			stop()
		}
	}
}
