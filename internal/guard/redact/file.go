package redact

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"path"
	"strings"
	"unicode/utf16"
)

// Content is what the bytes of a file are.
type Content string

// The kinds of content.
const (
	ContentText   Content = "text"   // also with bytes that are no UTF-8, as in Latin-1
	ContentJSON   Content = "json"   // one document; a file of lines with a document each is text
	ContentUTF16  Content = "utf-16" // text in two-byte units
	ContentBinary Content = "binary" // anything else: it holds bytes that no text does
)

// ContentOf says what a file is: by its bytes, and by its name where it is
// JSON.
func ContentOf(name string, b []byte) Content {
	if _, ok := utf16Order(b); ok {
		return ContentUTF16
	}
	switch {
	case bytes.IndexByte(b, 0) >= 0:
		return ContentBinary
	case strings.EqualFold(path.Ext(name), ".json") && json.Valid(b):
		return ContentJSON
	}
	return ContentText
}

// Document removes secrets from a file: those that the rules find and, if known
// is not nil, those that it holds, which was sealed. It neither changes nor keeps
// b, and returns b itself when there is no secret; it takes about three times
// its size, so callers bound what they hand in.
//
// Text and JSON become what [Redactor.String] and [Redactor.JSON] make of them,
// text in UTF-16 the same in UTF-16. In a binary file a secret is overwritten
// with as many asterisks: whatever counts bytes in it still finds its place. A
// checksum that such a file has over itself no longer fits, and nothing is
// unpacked: what is compressed or encoded inside is not seen.
func (r *Redactor) Document(name string, b []byte, known *Secrets) ([]byte, Report) {
	if known == nil {
		known = &Secrets{}
	}
	var out string
	var report Report
	switch ContentOf(name, b) {
	case ContentJSON:
		out, report = r.json(string(b), known)
	case ContentUTF16:
		return r.utf16(b, known)
	case ContentBinary:
		return r.binary(b, known)
	default:
		out, report = r.both(string(b), known)
	}
	if report.Total == 0 {
		return b, report
	}
	return []byte(out), report
}

// Look calls seen with each secret that the rules find in a file.
func (r *Redactor) Look(name string, b []byte, seen func(rule, secret string)) {
	text := string(b)
	switch ContentOf(name, b) {
	case ContentJSON:
		r.JSON(text, seen)
		return
	case ContentUTF16:
		text = fromUTF16(b)
	}
	for _, f := range r.secrets(text) {
		seen(f.rule, text[f.start:f.end])
	}
}

// both removes what the rules find, and what is known.
func (r *Redactor) both(text string, known *Secrets) (string, Report) {
	text, report := r.String(text)
	text, more := known.Remove(text)
	report.Add(more)
	return text, report
}

// json is both for a document, which stays one: unless a secret stands across
// its strings, as one can that was found in a text.
func (r *Redactor) json(doc string, known *Secrets) (string, Report) {
	doc, report := r.JSON(doc, nil)
	doc, more := known.RemoveJSON(doc)
	report.Add(more)
	doc, more = known.Remove(doc)
	report.Add(more)
	return doc, report
}

// binary overwrites secrets.
func (r *Redactor) binary(b []byte, known *Secrets) ([]byte, Report) {
	out, report := overwrite(b, r.secrets(string(b)))
	var spans []span
	for _, h := range known.whole(string(out)) {
		spans = append(spans, h.span)
	}
	out, more := overwrite(out, spans)
	report.Add(more)
	return out, report
}

// overwrite returns b with asterisks, b itself without spans.
func overwrite(b []byte, spans []span) ([]byte, Report) {
	if len(spans) == 0 {
		return b, Report{}
	}
	out := bytes.Clone(b)
	for _, s := range spans {
		copy(out[s.start:s.end], bytes.Repeat([]byte("*"), s.end-s.start))
	}
	return out, reportOf(spans)
}

// utf16Order returns the order of the bytes of a text in UTF-16, which begins
// with a mark that tells it.
func utf16Order(b []byte) (binary.ByteOrder, bool) {
	switch {
	case len(b)%2 != 0:
		return nil, false
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		return binary.LittleEndian, true
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		return binary.BigEndian, true
	}
	return nil, false
}

// fromUTF16 reads a text in UTF-16. Halves of pairs, which no text has, are read
// as if they were one unknown character.
func fromUTF16(b []byte) string {
	order, _ := utf16Order(b)
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// utf16 redacts a text in UTF-16.
func (r *Redactor) utf16(b []byte, known *Secrets) ([]byte, Report) {
	order, _ := utf16Order(b)
	text, report := r.both(fromUTF16(b), known)
	if report.Total == 0 {
		return b, report
	}
	units := utf16.Encode([]rune(text))
	out := make([]byte, 2*len(units))
	for i, u := range units {
		order.PutUint16(out[2*i:], u)
	}
	return out, report
}
