package web_test

import (
	"strings"
	"unicode"
)

// harm is text that was written to do harm, or to look like something else.
const harm = `<script>alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(1)><a href="javascript:alert(1)" hx-get="/ui/-/logout" hx-trigger="load" onclick=alert(1)>x</a>` +
	`"'><style>*{display:none}</style><meta http-equiv=refresh content="0;url=http://203.0.113.1/"><base href=//203.0.113.1/><iframe src=//203.0.113.1></iframe>` +
	`{{.Secret}}${alert(1)} ![pixel](http://203.0.113.1/pixel.png) [x](javascript:alert(1)) <http://203.0.113.1/> <p hx-on:click="alert(1)" style="position:fixed;inset:0">` +
	"\u202egnp.exe\u202c \u2066\u200b\ufeff\u00ad" + ` </main></body></html><!-- `

// hostileText is a scribe of harm: in every field, with a word without end where there is room.
func hostileText(field string, allowed alphabet, most int) string {
	text := field + " " + harm
	switch allowed {
	case noteName:
		return "notes-about-" + strings.ToLower(strings.Repeat("wide", 15))
	case ident:
		text = strings.Map(func(r rune) rune {
			if r <= ' ' || r > '~' || strings.ContainsRune(`/\%`, r) {
				return '-'
			}
			return r
		}, text)
	default:
		text = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, text)
	}
	if strings.HasPrefix(field, "turn.") { // what tools print
		text += "\x1b[31mred\x07\x08 \r\n"
	}
	if allowed >= lines {
		text += "\n\n# Heading\n\n| a | b |\n|---|---|\n| " + harm + " | 2 |\n\n```\n" + harm + "\n```\n\n- [ ] task\n\n" + strings.Repeat("endless", 200)
	}
	return strings.TrimSpace(strings.ToValidUTF8(text[:min(len(text), most)], ""))
}
