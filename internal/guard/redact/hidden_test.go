package redact_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/guard/redact/secrettest"
)

// TestWrappedSecretsGo writes a fresh secret of every template in every way. The text that is left
// holds neither the secret, nor the way it was written, nor a half of it.
func TestWrappedSecretsGo(t *testing.T) {
	t.Parallel()
	r := redact.New()
	seed := rand.Uint64()
	for _, w := range secrettest.Wrappings() {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			missed := map[string]int{}
			all := secrettest.Corpus(seed)
			for _, s := range all {
				text := "some words before\n" + s.Wrapped(w) + "\nsome words after\n"
				got, _ := r.String(text)
				if holds(got, s, w) {
					missed[s.Rule]++
				}
				if again, _ := r.String(got); again != got {
					t.Errorf("redacted twice, %q became %q", got, again)
				}
			}
			if n := sum(missed); n > len(all)/40 {
				t.Errorf("seed %d: %d of %d stay: %v", seed, n, len(all), missed)
			}
		})
	}
}

func sum(m map[string]int) (n int) {
	for _, k := range m {
		n += k
	}
	return n
}

// holds reports whether a text has a secret, whole, as it was wrapped, or a half of it.
func holds(text string, s secrettest.Secret, w secrettest.Wrapping) bool {
	half := s.Value[len(s.Value)/2:]
	return strings.Contains(text, s.Value) || strings.Contains(text, w.Wrap(s.Value)) || len(half) > 12 && strings.Contains(text, half)
}

func tags(s string) string {
	return strings.Map(func(r rune) rune { return 0xe0000 + r }, s)
}

const letters64 = "P2/56wAAAgIAAAAmZGwtbW9kcHtzaWdue3JzYS1wa2NzMS1zaGExfSxkaC1wbGFp"

func escaped(s string) string { return bytesOf(s, "\\u%04x") }

func bytesOf(s, format string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func TestHiddenSecrets(t *testing.T) {
	t.Parallel()
	gh := key("github-token")
	const gone = "[REDACTED:github-token]"
	checkChanges(t, []change{
		{"an invisible character", "x " + gh[:9] + "\u2060" + gh[9:] + " y", "x " + gone + " y"},
		{"a variation selector", gh[:20] + "\ufe0f" + gh[20:], gone},
		{"a tag of every letter", "x " + tags(gh) + " y", "x " + gone + " y"},
		{"letters in circles", "ⓖⓗⓟ_" + gh[4:], gone},
		{"octal escapes", `\147\150\160_` + gh[4:], gone},
		{"escapes of JavaScript", "%u0067%u0068p_" + gh[4:], gone},
		{"escapes in escapes of a URL", "%5Cu0067%5Cu0068p_" + gh[4:], gone},
		{"behind an end of a paragraph", gh[:12] + "\u2029" + gh[12:], gone},
		{"bytes with blanks", "dump " + bytesOf(gh, "%02x ") + "\n", "dump " + gone + " \n"},
		{"bytes with colons", bytesOf(gh, "%02X:"), gone + ":"},
		{"bytes of a program", "{" + bytesOf(gh, "0x%02x, ") + "}", "{0x" + gone + ", }"},
		{"bytes of no text", bytesOf("\x01\x02"+gh, "%02x "), ""},
		{"base64 of another alphabet", base64.StdEncoding.EncodeToString([]byte("Ключ: " + gh + " — спасибо")), gone},
		{"base64 that begins within a letter", base64.StdEncoding.EncodeToString([]byte("für später: " + gh)), gone},
		{"a patch", "+k = " + gh[:12] + "\n+" + gh[12:] + "\n", "+k = " + gone + "\n"},
		{"lines with numbers", "    11\t" + gh[:12] + "\n    12\t" + gh[12:] + "\n", "    11\t" + gone + "\n"},
		{"capitals alone", "AKIAQ3EGZ7" + "\n" + "HTNWPLBDRK", "[REDACTED:aws-access-key-id]"},
		{"a list that breaks", "- BREAKING\n- CHANGE\nAPI\nHTTP2\n", ""},
		{"a password in a sentence that breaks", "log in with password=Kw7ab\ncd4fg and go on", "log in with password=" + gonePassword + " and go on"},
		{"a password above another value", "password=Kw7ab\ncd4fg=2", ""},
		{"a key of SSH2 in escapes", "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: \"x\"\n" + escaped(letters64) + "\n---- END SSH2 ENCRYPTED PRIVATE KEY ----", "[REDACTED:private-key]"},
		{"letters of mathematics", "\U0001d420\U0001d421\U0001d429_" + gh[4:], gone},
		{"behind a full-width colon", "password：Tr0ub4dor3x\n", "password：" + gonePassword + "\n"},
		{"in JSON in JSON", `{"a":"{\"b\":\"\\u0067hp_` + gh[4:] + `\"}"}`, `{"a":"{\"b\":\"` + gone + `\"}"}`},
		{"a key of JSON", `{"\u0067hp_` + gh[4:] + `":1}`, `{"` + gone + `":1}`},
		{"an escaped escape", "%2567hp_" + gh[4:], gone},
		{"a query", "?next=" + "%67%68p_" + gh[4:] + "&x=1", "?next=" + gone + "&x=1"},
		{"strings of a program", `k = "` + gh[:12] + `" + "` + gh[12:] + `"`, `k = "` + gone + `"`},
		{"strings below each other", "k = ('" + gh[:12] + "'\n     '" + gh[12:] + "')", "k = ('" + gone + "')"},
		{"three lines", gh[:12] + "\n" + gh[12:24] + "\n" + gh[24:] + "\n", gone + "\n"},
		{"a line before", "v1.2\n" + gh[:12] + "\n" + gh[12:], "v1.2\n" + gone},
		{"a mail", "> " + gh[:12] + "\n> " + gh[12:], "> " + gone},
		{"an escaped line", `{"a":"` + gh[:12] + `\n  ` + gh[12:] + `"}`, `{"a":"` + gone + `"}`},
		{"a line of text below a setting", "token = abc\nsha256.New12()\n", ""},
		{"two lines of JSON", `{"a":"` + gh[:12] + `"}` + "\n" + `{"a":"` + gh[12:] + `"}`, ""},
		{"an invisible character in a word", "infor\u00admation, e\u0301te\u0301 and 1\ufe0f\u20e3", ""},
	})
}
