package analyze

import (
	"iter"
	"slices"
	"unicode"
	"unicode/utf8"
)

// class says what a character does to the token it stands in.
type class int

const (
	separator class = iota // ends a token
	letter                 // begins or continues a token
	mark                   // vanishes inside a token, separates outside of one
	ideograph              // belongs to a script searched by characters
)

// span is a range of characters, both ends included.
type span struct{ first, last rune }

// folding maps first, first+step, ... last to to, to+inc, ...
type folding struct {
	first, last rune
	step        rune
	to, inc     rune
}

// classOf returns the class that FTS5's unicode61 tokenizer gives r.
func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return letter
		}
		return separator
	case within(unicode61().marks, r):
		return mark
	case within(unicode61().separators, r):
		return separator
	}
	return letter
}

func within(spans []span, r rune) bool {
	_, found := slices.BinarySearchFunc(spans, r, func(s span, r rune) int {
		switch {
		case s.last < r:
			return -1
		case s.first > r:
			return 1
		}
		return 0
	})
	return found
}

// foldRune returns the lower-case letter without diacritics that FTS5 takes
// r for, 0 where it drops r.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	foldings := unicode61().foldings
	i, found := slices.BinarySearchFunc(foldings, r, func(f folding, r rune) int {
		switch {
		case f.last < r:
			return -1
		case f.first > r:
			return 1
		}
		return 0
	})
	if !found {
		return r
	}
	f := foldings[i]
	if n := r - f.first; n%f.step == 0 {
		return f.to + n/f.step*f.inc
	}
	return r
}

// token is a part of a text: its place in bytes, its class, letter or
// ideograph, and its folded form.
type token struct {
	start, end int
	class      class
	folded     []byte // valid until the next token
}

// tokens yields the tokens that unicode61 finds in text, in order, all of
// class letter.
func tokens(text string) iter.Seq[token] { return scan(text, classOf) }

// pieces yields the tokens of text with runs of ideographs apart from the
// letters they touch.
func pieces(text string) iter.Seq[token] {
	return scan(text, func(r rune) class {
		if isCJK(r) {
			return ideograph
		}
		return classOf(r)
	})
}

func scan(text string, classOf func(rune) class) iter.Seq[token] {
	return func(yield func(token) bool) {
		var t token
		open := false
		for i, r := range text {
			c := classOf(r)
			if open && c != t.class && !(c == mark && t.class == letter) {
				open = false
				if !yield(t) {
					return
				}
			}
			if !open && (c == letter || c == ideograph) {
				open = true
				t = token{start: i, class: c, folded: t.folded[:0]}
			}
			if open {
				t.end = i + utf8.RuneLen(r)
				t.folded = appendFolded(t.folded, r)
			}
		}
		if open {
			yield(t)
		}
	}
}

func appendFolded(buf []byte, r rune) []byte {
	if f := foldRune(r); f != 0 {
		return utf8.AppendRune(buf, f)
	}
	return buf
}

// isCJK reports whether r belongs to a script that is written without spaces
// between words and searched by characters: Han, Hiragana, Katakana, Hangul,
// and the signs shared by them.
func isCJK(r rune) bool {
	if r < 0x1100 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, sharedCJK)
}

// sharedCJK holds the signs that Unicode counts to no single script: the
// closing mark, the masu mark, voiced sound marks and the long vowel marks.
var sharedCJK = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x3006, Hi: 0x3006, Stride: 1},
	{Lo: 0x303c, Hi: 0x303c, Stride: 1},
	{Lo: 0x3099, Hi: 0x309a, Stride: 1},
	{Lo: 0x30fc, Hi: 0x30fc, Stride: 1},
	{Lo: 0xff70, Hi: 0xff70, Stride: 1},
	{Lo: 0xff9e, Hi: 0xff9f, Stride: 1},
}}
