package embed

import (
	"errors"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// vocabulary is the words of a model. A lookup reads the words where they lie in the file: a
// process that looks nothing up builds nothing.
type vocabulary struct {
	text   string
	ends   []uint32 // word i is text[ends[i]:ends[i+1]]
	sorted []uint32 // ids in the order of their words
}

// The words that every BERT has.
const (
	unknownWord = 100
	startWord   = 101
	endWord     = 102
)

// ordered reports words that lie outside of the file, or ids of none.
func (v *vocabulary) ordered() error {
	n := uint32(len(v.text))
	for i, at := range v.ends {
		if at > n || i > 0 && at < v.ends[i-1] {
			return errors.New("the words of the model file are out of order")
		}
	}
	for _, id := range v.sorted {
		if int(id) >= len(v.sorted) {
			return errors.New("the vocabulary of the model file names a word that it does not have")
		}
	}
	return nil
}

func (v *vocabulary) check() error {
	if err := v.ordered(); err != nil {
		return err
	}
	if v.word(startWord) != "[CLS]" || v.word(endWord) != "[SEP]" || v.word(unknownWord) != "[UNK]" {
		return errors.New("the vocabulary of the model file is not that of a BERT")
	}
	return nil
}

func (v *vocabulary) word(id uint32) string { return v.text[v.ends[id]:v.ends[id+1]] }

func (v *vocabulary) find(word string) (int32, bool) {
	i := sort.Search(len(v.sorted), func(i int) bool { return v.word(v.sorted[i]) >= word })
	if i < len(v.sorted) && v.word(v.sorted[i]) == word {
		return int32(v.sorted[i]), true
	}
	return 0, false
}

// maxWordRunes is how long a word may be; a longer one is unknown.
const maxWordRunes = 100

// maxWordBytes is how much of a text is looked at for each token that is wanted: a
// text of longer words is cut off early.
const maxWordBytes = 128

// tokenize returns the ids of a text, at most limit, with the marks of its start and
// its end. Names of special words inside the text are ordinary text.
func (v *vocabulary) tokenize(text string, limit int) []int32 {
	ids := make([]int32, 1, 64)
	ids[0] = startWord
	text = text[:min(len(text), limit*maxWordBytes)]
	words(text, func(word string) bool {
		ids = v.pieces(ids, word)
		return len(ids) < limit
	})
	return append(ids[:min(len(ids), limit-1)], endWord)
}

// pieces appends the ids of the longest parts of a word that are known, from its start.
func (v *vocabulary) pieces(ids []int32, word string) []int32 {
	if utf8.RuneCountInString(word) > maxWordRunes {
		return append(ids, unknownWord)
	}
	before := len(ids)
	piece := make([]byte, 0, 64)
	for start := 0; start < len(word); {
		end, found := len(word), int32(-1)
		for ; end > start; end-- {
			if !utf8.RuneStart(boundary(word, end)) {
				continue
			}
			piece = piece[:0]
			if start > 0 {
				piece = append(piece, "##"...)
			}
			piece = append(piece, word[start:end]...)
			if id, ok := v.find(string(piece)); ok {
				found = id
				break
			}
		}
		if found < 0 {
			return append(ids[:before], unknownWord)
		}
		ids, start = append(ids, found), end
	}
	return ids
}

// boundary is the byte that begins at end, one that starts a character at the end of
// the word.
func boundary(word string, end int) byte {
	if end == len(word) {
		return 0
	}
	return word[end]
}

// words calls fn for the words of a text, in lower case and without accents: what is
// between white space, with every punctuation mark and every Chinese character alone.
// It stops when fn returns false.
func words(text string, fn func(string) bool) {
	var b strings.Builder
	flush := func() bool {
		if b.Len() == 0 {
			return true
		}
		word := b.String()
		b.Reset()
		return fn(word)
	}
	for _, r := range strings.ToLower(norm.NFD.String(strings.ToValidUTF8(text, ""))) {
		switch {
		case r == 0 || r == unicode.ReplacementChar || unicode.Is(unicode.Mn, r) || isControl(r):
		case unicode.IsSpace(r):
			if !flush() {
				return
			}
		case isPunctuation(r) || isChinese(r):
			if !flush() || !fn(string(r)) {
				return
			}
		default:
			b.WriteRune(r)
		}
	}
	flush()
}

func isControl(r rune) bool {
	return r != '\t' && r != '\n' && r != '\r' && unicode.Is(unicode.C, r)
}

// isPunctuation counts every ASCII sign that is no letter or digit.
func isPunctuation(r rune) bool {
	if r < 128 {
		return r > ' ' && !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	return unicode.IsPunct(r)
}

func isChinese(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF || r >= 0x2A700 && r <= 0x2B73F ||
		r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B820 && r <= 0x2CEAF || r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}
