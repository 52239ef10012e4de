package redact

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// pemRules removes private keys in PEM and PGP armour, as a whole: the lines
// may be indented, quoted as in mail, or joined by the escapes \n and \r of
// JSON and of environment files. A block whose end is missing goes on as far
// as it looks like key material.
var pemRules = []rule{
	{name: "private-key", anchors: []string{"-----BEGIN "}, finder: findArmour},
	{name: "private-key", anchors: []string{"---- BEGIN SSH2 "}, finder: findSSH2}, // RFC 4716 has it with four dashes and blanks
	{
		name:    "private-key-base64",
		anchors: []string{"LS0tLS1CRUdJTi"},
		chars:   &base64Std,
		body:    50,
		tail:    &base64Pad,
		edge:    base64Edge,
		accept:  isEncodedArmour,
	},
}

func findArmour(v view, at int, found []span) []span {
	const (
		longest = 128
		pattern = `-----BEGIN (?:[0-9A-Z]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----`
	)
	line := v.text[at:min(v.hi, at+longest)]
	if !strings.Contains(line, "PRIVATE KEY") {
		return found // a certificate, and no need of the expression
	}
	m := v.doc.exprs.match(pattern, line)
	if m == nil {
		return found
	}
	end, ok := v.armourEnd(at+m[1], "-----")
	switch {
	case !ok:
		return found
	case v.isFieldOf(at, "private_key"):
		return append(found, span{at, end, "gcp-service-account-key"})
	}
	return append(found, span{at, end, "private-key"})
}

// findSSH2 removes a private key as the SSH of Tectia and F-Secure writes it, which PuTTY
// exports.
func findSSH2(v view, at int, found []span) []span {
	const (
		longest = 128
		pattern = `---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----`
	)
	m := v.doc.exprs.match(pattern, v.text[at:min(v.hi, at+longest)])
	if m == nil {
		return found
	}
	end, ok := v.armourEnd(at+m[1], "---- ")
	if !ok {
		return found
	}
	return append(found, span{at, end, "private-key"})
}

// isEncodedArmour reports whether the base64 text behind the prefix goes on
// like the first line of a private key.
func isEncodedArmour(body string) bool {
	plain, err := base64.StdEncoding.DecodeString("Ti" + body) // the prefix ends within a group of four
	return err == nil && strings.Contains(string(plain), "PRIVATE KEY")
}

// isFieldOf reports whether the text at at is the value of the JSON field name.
func (v view) isFieldOf(at int, name string) bool {
	before := v.text[max(v.lo, at-len(name)-48):at]
	before = strings.TrimRight(before, " \t\"'\\:")
	return strings.HasSuffix(before, name)
}

const (
	maxArmour = 64 << 10 // longer than any private key
	minArmour = 40       // shorter than any; less is a mention, not a key
	minClosed = 4        // the same between a first line and a last one: a key that was cut, or made up for a test
)

// arrow parts a line's number from the line where a tool shows a file.
const arrow = "→"

// armourHeader are bytes of armour headers and of quoting, beside base64.
var armourHeader = newClass(":,.()_>#|*@-")

// armourEnd returns where the armour whose first line ends at at ends. Its last line begins
// with dashes.
func (v view) armourEnd(at int, dashes string) (end int, ok bool) {
	limit := min(v.hi, at+maxArmour)
	key, i := 0, at
	for i < limit {
		if strings.HasPrefix(v.text[i:limit], dashes) {
			break
		}
		next, isKey := v.armourByte(i, limit)
		if next == i {
			next = v.armourQuote(i)
		}
		if next == i && !armourHeader.has[v.text[i]] {
			break
		}
		if isKey {
			key++
		}
		i = max(next, i+1)
	}
	if key >= minClosed && strings.HasPrefix(v.text[i:limit], dashes+"END ") {
		return v.lastLineEnd(i + len(dashes)), true
	}
	return v.looseArmourEnd(at, limit)
}

// armourByte returns the place behind a byte of key material or white space at
// i, escaped or not, and which it was; it returns i for anything else.
func (v view) armourByte(i, limit int) (next int, isKey bool) {
	switch b := v.text[i]; {
	case base64Pad.has[b]:
		return i + 1, true
	case b == ' ' || b == '\t' || b == '\r' || b == '\n':
		return i + 1, false
	case b == '\\':
		end := v.skip(i, `\`)
		if end < limit && strings.IndexByte("nrt/\n", v.text[end]) >= 0 {
			return end + 1, false
		}
	case strings.HasPrefix(v.text[i:limit], arrow):
		return i + len(arrow), false
	case b >= 0x80:
		if c, size := utf8.DecodeRuneInString(v.text[i:limit]); isUnseen(c) {
			return i + size, false
		}
	}
	return i, false
}

// armourQuote returns the place behind a quotation mark at i, as those around
// the lines of a key in the source of a program, or i itself. A mark that ends
// a string of JSON also ends the key.
func (v view) armourQuote(i int) int {
	end := v.quote(i)
	if end == i || v.text[end-1] == '"' && (end-i)%2 == 1 && v.doc.isJSON(v.text, i) {
		return i
	}
	return end
}

// lastLineEnd returns where the line -----END ...----- ends whose END stands at at.
func (v view) lastLineEnd(at int) int {
	const longest = 80
	i := at + len("END ")
	for i < min(v.hi, at+longest) && (upperAlnum.has[v.text[i]] || v.text[i] == ' ') {
		i++
	}
	for n := 0; n < len("-----") && i < v.hi && v.text[i] == '-'; n++ {
		i++
	}
	return i
}

// looseArmourEnd returns where key material without a last line ends: behind
// the last long run of base64 that only white space parts from the one before.
func (v view) looseArmourEnd(at, limit int) (end int, ok bool) {
	const shortLine = 24
	key, end := 0, at
	for i := at; i < limit; {
		next, isKey := v.armourByte(i, limit)
		if next == i {
			break
		}
		if !isKey {
			i = next
			continue
		}
		next = base64Std.padded(v.text, i, limit)
		if next == i || next-i < shortLine && v.text[next-1] != '=' {
			break
		}
		key += next - i
		i, end = next, next
	}
	return end, key >= minArmour
}
