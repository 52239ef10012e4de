package analyze

import "unicode"

// signs returns the emoji and other signs of a text, which are searched by
// their characters: each alone, since what joins or colours them (a joiner, a
// variation selector, a tone of skin) is written by one keyboard and not by the
// next, and flags by their two letters.
func signs(text string) []string {
	var out []string
	var flag rune // the first letter of a flag
	for _, r := range text {
		switch {
		case isRegional(r) && flag != 0:
			out = append(out, string([]rune{flag, r}))
			flag = 0
			continue
		case isRegional(r):
			flag = r
			continue
		case isSign(r):
			out = append(out, string(r))
		}
		flag = 0
	}
	return out
}

// isSign reports whether r is a sign that people mean something by: emoji,
// check marks, stars, weather. Signs of Latin-1, as for degrees and copyright,
// are punctuation of words.
func isSign(r rune) bool {
	return r >= 0x2100 && r != unicode.ReplacementChar && unicode.Is(unicode.So, r) && !isCJK(r) && !isRegional(r)
}

// onlySigns reports whether a token has nothing but signs: FTS5 takes those
// that are younger than its tables for letters.
func onlySigns(token string) bool {
	for _, r := range token {
		isTone := 0x1f3fb <= r && r <= 0x1f3ff
		if !isSign(r) && !isRegional(r) && !isTone {
			return false
		}
	}
	return token != ""
}

// isRegional reports whether r is a letter of a flag.
func isRegional(r rune) bool { return 0x1f1e6 <= r && r <= 0x1f1ff }
