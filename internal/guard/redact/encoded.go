package redact

import (
	"encoding/base64"
	"encoding/hex"
	"iter"
	"strings"
	"unicode/utf8"
)

// Bounds of texts in base64 and hexadecimal digits.
const (
	minEncoded = 24 // shorter than any secret that would be found when decoded
	headBytes  = 16 // of an encoded text: enough to tell text from anything else
	maxParts   = 4  // places at which an encoded text may begin behind a name or a path
)

// encodedByte are the bytes of base64 in both alphabets, hexadecimal digits among them.
var encodedByte = newClass("0-9A-Za-z+/_-")

// encoded finds runs of base64 and of hexadecimal digits that are a text which holds a secret.
// The whole run goes.
func (r *Redactor) encoded(text string, doc *document, lo, hi, depth int, found []span) []span {
	for i := lo; i < hi; i++ {
		// A run of so many bytes has one of them at every so many bytes.
		next := i + minEncoded - 1
		if next >= hi || !encodedByte.has[text[next]] {
			i = next
			continue
		}
		start := next
		for start > i && encodedByte.has[text[start-1]] {
			start--
		}
		end := encodedByte.run(text, next, hi)
		if start > lo && text[start-1] == '\\' && strings.IndexByte("bfnrt", text[start]) >= 0 {
			start++ // the letter of an escape
		}
		if end-start >= minEncoded {
			found = r.decode(text, doc, start, end, hi, depth, found)
		}
		i = end
	}
	return found
}

// decode adds the run from start up to end where it is a text with a secret. It may begin behind
// a name, or where the text was broken.
func (r *Redactor) decode(text string, doc *document, start, end, hi, depth int, found []span) []span {
	for begin := range doc.beginnings(text, start, end) {
		plain, ok := decoded(text[begin:end])
		if !ok {
			continue
		}
		if spans := r.deep(plain, nil, depth+1); len(spans) > 0 {
			for pad := 0; pad < 2 && end < hi && text[end] == '='; pad++ {
				end++
			}
			return append(found, span{begin, end, spans[0].rule})
		}
		break
	}
	return found
}

// beginnings are the places at which an encoded text may begin in a run.
func (d *document) beginnings(text string, start, end int) iter.Seq[int] {
	return func(yield func(int) bool) {
		parts := 0
		for i := start; end-i >= minEncoded && parts < maxParts; i++ {
			if i == start || strings.IndexByte("-_/+", text[i-1]) >= 0 || d.isEdge(i) {
				if parts++; !yield(i) {
					return
				}
			}
		}
	}
}

// decoded returns the text that a run encodes. It is not ok when that is no text.
func decoded(run string) (string, bool) {
	if digits := strings.TrimPrefix(run, "0x"); len(digits)%2 == 0 && hexAny.run(digits, 0, len(digits)) == len(digits) {
		b, err := hex.DecodeString(digits)
		return textOf(b), err == nil && isPlainText(b)
	}
	if !beginsText(run) {
		return "", false
	}
	if len(run)%4 == 1 { // no base64 ends so
		run = run[:len(run)-1]
	}
	b, err := base64.RawStdEncoding.DecodeString(standard(run))
	return textOf(b), err == nil && isPlainText(b)
}

// sixBits are the values of the bytes of base64, in both alphabets.
var sixBits = func() (bits [256]byte) {
	for i := range byte(62) {
		bits["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"[i]] = i
	}
	bits['+'], bits['-'], bits['/'], bits['_'] = 62, 62, 63, 63
	return bits
}()

// beginsText reports whether the first bytes that a run of base64 encodes are a text's.
func beginsText(run string) bool {
	head := make([]byte, 0, headBytes)
	for i := 0; i < headBytes; i += 4 {
		a, b, c, d := sixBits[run[i]], sixBits[run[i+1]], sixBits[run[i+2]], sixBits[run[i+3]]
		head = append(head, a<<2|b>>4, b<<4|c>>2, c<<6|d)
		if i == 0 && !isTextByte(head[0]) && head[0] < 0xc2 {
			return false
		}
	}
	return isPlainText(head)
}

func isTextByte(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\r' || c == '\t' }

// standard is a run of base64 in the standard alphabet.
func standard(run string) string {
	if !strings.ContainsAny(run, "-_") {
		return run
	}
	return strings.NewReplacer("-", "+", "_", "/").Replace(run)
}

// isPlainText reports whether bytes are a text: printed characters and white space, in UTF-8 or in the
// two-byte units in which PowerShell takes its commands.
func isPlainText(b []byte) bool {
	if len(b) > 1 && b[1] == 0 {
		b = []byte(textOf(b))
	}
	for i, c := range b {
		if !isTextByte(c) && (c < 0x80 || !isWholeUpTo(b, i)) {
			return false
		}
	}
	return len(b) > 0
}

// isWholeUpTo reports whether the byte at i, which is part of a longer character, is where UTF-8 has
// one. The last character may be cut.
func isWholeUpTo(b []byte, i int) bool {
	start := i
	for start > 0 && i-start < utf8.UTFMax && !utf8.RuneStart(b[start]) {
		start--
	}
	if !utf8.FullRune(b[start:]) {
		return true
	}
	_, size := utf8.DecodeRune(b[start:])
	return i-start < size && size > 1
}

// textOf is a text in UTF-8, also where its bytes are two-byte units.
func textOf(b []byte) string {
	if len(b) < 2 || b[1] != 0 {
		return string(b)
	}
	var out strings.Builder
	for i := 0; i < len(b); i += 2 {
		if i+1 < len(b) && b[i+1] != 0 {
			return string(b)
		}
		out.WriteByte(b[i])
	}
	return out.String()
}
