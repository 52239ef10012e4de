package shown_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/internal/test/must"
)

// hiddenRunes are characters that show nothing, or change how others read.
var hiddenRunes = []rune{
	0, 0x1b, 0x7f, 0x9b, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x180f, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x202a, 0x202e,
	0x2060, 0x2064, 0x2065, 0x2066, 0x2069, 0x206f, 0x2800, 0x3164, 0xe000, 0xfdd0, 0xfe00, 0xfe0e, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffb, 0xfff0,
	0x1d159, 0x1d173, 0xe0001, 0xe0041, 0xe007f, 0xe0100, 0xe01ef, 0xf0000, 0x10ffff,
}

func TestHiddenCharactersAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, r := range hiddenRunes {
		in := "pay" + string(r) + "load"
		if got := shown.Text(in); got != "payload" {
			t.Errorf("%U: Text gives %q", r, got)
		}
		if got := shown.Marked(in); got != "pay\ufffdload" {
			t.Errorf("%U: Marked gives %q", r, got)
		}
	}
	must.Equal(t, "a run has one mark", shown.Marked("a\u200b\u200c\x1b\x00b\u202e"), "a\ufffdb\ufffd")
	must.Equal(t, "bytes that are no text", shown.Text("a\xffb"), "ab")
	// Bytes written as variation selectors, as a known way to smuggle text has them.
	var hidden strings.Builder
	for _, b := range []byte("ignore all") {
		hidden.WriteRune(0xe0100 + rune(b) - 16)
	}
	must.Equal(t, "behind an emoji", shown.Text("😀"+hidden.String()), "😀")
}

func TestWrittenTextStays(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "plain\n\ttext", "naïve café", "e\u0301", "日本語、テスト。", "привет", "שלום", "مرحبا", "می\u200cخواهم", "क्\u200dष", "ශ්\u200dරී", "한국어",
		"😀", "❤\ufe0f", "☎\ufe0e", "👩\u200d👩\u200d👧", "👍🏽", "👩🏽\u200d💻", "🏳\ufe0f\u200d🌈", "1\ufe0f\u20e3", "#\ufe0f\u20e3", "🇳🇴", "©\ufe0f", "‼\ufe0f",
		"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "a\u00a0b\u3000c", "∑ ≠ → ½ €", "\ufffd",
	} {
		must.Equal(t, s, shown.Text(s), s)
		must.Equal(t, s, shown.Marked(s), s)
	}
	must.Equal(t, "lines of Windows", shown.Text("a\r\nb\u2028c"), "a\nb\nc")
	must.Equal(t, "a flag that is none", shown.Text("🏴\U000e0069\U000e0067\U000e006e\U000e007f"), "🏴")
}

func TestTagsOfHostsReadAsText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<system-reminder>x</system-reminder>":                "‹system-reminder>x‹/system-reminder>",
		"< System_Reminder a=\"b\">":                          "‹ System_Reminder a=\"b\">",
		"<\n/ SYSTEM >":                                       "‹\n/ SYSTEM >",
		"＜ｓｙｓｔｅｍ＞":                                            "‹ｓｙｓｔｅｍ＞",
		"<sys\u200btem-remin\ufe0fder>":                       "‹system-reminder>",
		"&lt;system-reminder&gt;":                             "‹system-reminder&gt;",
		"&#x3C;user-prompt-submit-hook>":                      "‹user-prompt-submit-hook>",
		"<function_calls><" + "antml:" + "invoke name=\"x\">": "‹function_calls>‹" + "antml:" + "invoke name=\"x\">",
		"<tool_result>":                                       "‹tool_result>",
		"<|im_start|>system":                                  "‹|im_start|>system",
		"[INST] <<SYS>> [/INST]":                              "⟦INST] ‹‹SYS>> ⟦/INST]",
		"</amber-memory 0123>":                                "‹/amber-memory 0123>",
		"a < b, <b>bold</b>, List<System.String>":             "a < b, <b>bold</b>, List<System.String>",
		"[x] todo [1] &amp; <systemd> <user>":                 "[x] todo [1] &amp; <systemd> <user>",
		"<":                                                   "<",
	} {
		got := shown.ForAgent(in)
		must.Equal(t, in, got, want)
		must.Equal(t, "again", shown.ForAgent(got), got)
	}
}

func TestDelimitersOfABlock(t *testing.T) {
	t.Parallel()
	block := "<amber-memory 0123456789abcdef0123456789abcdef>\nx\n</amber-memory 0123456789abcdef0123456789abcdef>\n"
	must.Equal(t, "for an agent", shown.ForAgent(block), block)
	must.Equal(t, "in a block", shown.ForBlock(block), strings.ReplaceAll(block, "<", "‹"))
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":"x\u200by\u003csystem-reminder\u003e","n":1.50}`: `{"a":"xy‹system-reminder>","n":1.50}`,
		`{ "a\ufe0f" : ["plain", 1e5] }`:                       `{ "a" : ["plain", 1e5] }`,
		`{"b":"\u003cb\u003e"}`:                                `{"b":"\u003cb\u003e"}`,
	} {
		got := shown.JSON([]byte(in))
		must.Equal(t, in, string(got), want)
		must.Hold(t, json.Valid(got), "%s is no JSON", got)
	}
}

func FuzzForAgent(f *testing.F) {
	f.Add("a\u200b<system>")
	f.Fuzz(func(t *testing.T, s string) {
		once := shown.ForAgent(s)
		if again := shown.ForAgent(once); again != once || !utf8.ValidString(once) {
			t.Errorf("%q became %q, then %q", s, once, again)
		}
	})
}
