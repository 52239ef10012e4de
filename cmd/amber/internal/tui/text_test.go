package tui

import (
	"strings"
	"testing"

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
		must.Equal(t, "clean", clean(in), want)
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
	must.Equal(t, "cut", cut("abcdef", 4), "abc…")
	must.Equal(t, "cut", cut("世界世", 4), "世…")
	must.Equal(t, "pad", pad("世", 4), "世  ")
	must.Equal(t, "cut", cut("abc", 0), "")
	must.Equal(t, "one line", oneLine(" a\n\n b ", 9), "a b")
}

func TestWords(t *testing.T) {
	must.Equal(t, "words", must.Get(splitWords(`a "b c" 'd "e' f\ g ""`))(t), []string{"a", "b c", `d "e`, "f g", ""})
	must.Error(t, "open quote", must.Err(splitWords(`a "b`)))
	for _, s := range []string{"plain", "two words", "it's", "", "$HOME", "a\nb"} {
		must.Equal(t, "quoted", must.Get(splitWords(quoted(s)))(t), []string{s})
	}
}

func TestDiff(t *testing.T) {
	must.Equal(t, "diff", diff("a\nb\nc", "a\nx\nc").plain(), "  a\n- b\n+ x\n  c\n")
	must.Equal(t, "equal", diff("a", "a").plain(), "  … 1 line equal\n")
	long := strings.Repeat("same\n", 100)
	must.Equal(t, "folded", diff(long+"old", long+"new").plain(), "  … 97 lines equal\n  same\n  same\n  same\n- old\n+ new\n")
	many := strings.Repeat("a\nb\n", 3000)
	must.Says(t, "large", diff(many, strings.ReplaceAll(many, "a", "c")).plain(), "- a", "+ c")
}

func TestAgainID(t *testing.T) {
	must.Equal(t, "id", againID("build"), "build.again-1")
	must.Equal(t, "id", againID("build.again-1"), "build.again-2")
	must.Equal(t, "id", againID("x.again-99999999"), "x.again-99999999.again-1")
}

func TestEdit(t *testing.T) {
	e := newEdit("one two")
	for _, k := range []string{"ctrl+w", "3", "home", "x", "end", "backspace", "left", "delete"} {
		e.key(keysOf(k)[0])
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
