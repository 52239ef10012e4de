package window

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                           "plain",
		"a\r\nb\tc":                       "a\nb    c",
		"\x1b[2J":                         "�[2J",
		"x\u202ey":                        "x�y",
		"👩\u200d👧":                        "👩👧",
		"e" + strings.Repeat("\u0301", 9): "e\u0301\u0301\u0301",
		"\xff":                            "�",
		"\x00":                            "�",
		"\u2028":                          "�",
	} {
		must.Equal(t, "clean", Clean(in), want)
	}
}

func TestWrap(t *testing.T) {
	must.Equal(t, "lines", wrap("one two three", 8), []string{"one two", "three"})
	must.Equal(t, "lines", wrap("世界世界", 4), []string{"世界", "世界"})
	must.Equal(t, "lines", wrap("世", 1), []string{"…"})
	must.Equal(t, "lines", wrap("", 5), []string{""})
	must.Equal(t, "lines", wrap("abcdef", 4), []string{"abcd", "ef"})
	must.Equal(t, "lines", len(wrap("x", 0)), 0)
}

func TestCutAndPad(t *testing.T) {
	must.Equal(t, "cut", Cut("abcdef", 4), "abc…")
	must.Equal(t, "cut", Cut("世界世", 4), "世…")
	must.Equal(t, "pad", pad("世", 4), "世  ")
	must.Equal(t, "cut", Cut("abc", 0), "")
	must.Equal(t, "one line", OneLine(" a\n\n b ", 9), "a b")
}

func TestDiff(t *testing.T) {
	must.Equal(t, "diff", Diff("a\nb\nc", "a\nx\nc").Plain(), "  a\n- b\n+ x\n  c\n")
	must.Equal(t, "equal", Diff("a", "a").Plain(), "  … 1 line equal\n")
	long := strings.Repeat("same\n", 100)
	must.Equal(t, "folded", Diff(long+"old", long+"new").Plain(), "  … 97 lines equal\n  same\n  same\n  same\n- old\n+ new\n")
	many := strings.Repeat("a\nb\n", 3000)
	must.Says(t, "large", Diff(many, strings.ReplaceAll(many, "a", "c")).Plain(), "- a", "+ c")
}

func TestEdit(t *testing.T) {
	e := newEdit("one two")
	for _, k := range []tea.KeyPressMsg{
		{Code: 'w', Mod: tea.ModCtrl},
		{Code: '3', Text: "3"},
		{Code: tea.KeyHome},
		{Code: 'x', Text: "x"},
		{Code: tea.KeyEnd},
		{Code: tea.KeyBackspace},
		{Code: tea.KeyLeft},
		{Code: tea.KeyDelete},
	} {
		e.key(k)
	}
	must.Equal(t, "text", e.String(), "xone")
	e.insert(strings.Repeat("世", maxField))
	must.Equal(t, "bounded", len(e.text), maxField)
	for _, n := range []int{0, 1, 2, 5, 80} {
		shown, at := e.draw(n)
		if width(shown) > n || at > max(n, 0) {
			t.Errorf("a field of %d columns shows %d, its cursor is at %d", n, width(shown), at)
		}
	}
}
