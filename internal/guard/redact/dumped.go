package redact

import "strings"

// Bounds of bytes that are written one by one.
const (
	minDumped = 12 // pairs of digits: fewer hold no secret
	maxParted = 12 // bytes between two of them: blanks, commas, a break, 0x
)

// dumped finds secrets whose bytes are written as pairs of hexadecimal digits with something between them: 67 68 70 5f,
// 67:68:70:5f or {0x67, 0x68, 0x70, 0x5f}.
func (r *Redactor) dumped(text string, lo, hi, depth int, found []span) []span {
	for i := lo; i+2 < hi; i++ {
		if !isPair(text, i, hi) || i > lo && alnum.has[text[i-1]] && text[i-1] != 'x' {
			continue
		}
		w := reading{}
		end := w.addPairs(text, i, hi)
		if len(w.text) >= minDumped && isPlainText(w.text) {
			found = r.read(&w, depth, found)
		}
		i = end - 1
	}
	return found
}

// isPair reports whether two hexadecimal digits stand at at, and no word goes on behind them.
func isPair(text string, at, hi int) bool {
	return at+2 <= hi && hexAny.has[text[at]] && hexAny.has[text[at+1]] && (at+2 == hi || !alnum.has[text[at+2]])
}

// addPairs adds the bytes of the pairs from at on, and returns where they end.
func (r *reading) addPairs(text string, at, hi int) int {
	for {
		n, _ := hexValue(text, at, at+2, hi)
		r.add(byte(n), at, at+2)
		next := at + 2
		for next < min(hi, at+2+maxParted) && strings.IndexByte(" \t\r\n,:;-\"'", text[next]) >= 0 {
			next++
		}
		if strings.HasPrefix(text[next:hi], "0x") {
			next += len("0x")
		}
		if next == at+2 || !isPair(text, next, hi) {
			return at + 2
		}
		at = next
	}
}
