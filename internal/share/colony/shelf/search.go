package shelf

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/names"
	"github.com/amber-memory/amber/internal/share/colony"
)

// Bounds of a search.
const (
	// MinQuery is how many characters a query has that finds anything.
	MinQuery = 2
	// MaxQuery bounds a query, in characters.
	MaxQuery = 200
	// DefaultResults and MaxResults are how many files a search returns.
	DefaultResults, MaxResults = 20, 100
)

// A snippet has these marks around every find.
const (
	markOpen, markClose = "[[hl]]", "[[/hl]]"
	// before and around are the characters of a snippet before the first find, and
	// in all, without marks.
	before, around = 60, 240
)

// Match is a file in which something was found. Snippet is a piece of its content
// with marks around every find, or its beginning when only its name matches.
type Match struct {
	colony.FileInfo
	Snippet string
}

// Search returns the files whose name or content holds the query, by name,
// whatever the case of the letters: at most limit (0: DefaultResults, never more
// than MaxResults) after the first offset ones, and how many there are in all. A
// query of less than MinQuery characters finds nothing. Errors also: invalid.
func (s *Shelf) Search(ctx context.Context, query string, limit, offset int) (found []Match, total int, err error) {
	const op = "search files"
	n := utf8.RuneCountInString(query)
	switch {
	case limit < 0 || offset < 0 || !utf8.ValidString(query):
		return nil, 0, amber.Errorf(amber.KindInvalid, op, "", "the query is not UTF-8, or limit or offset is negative")
	case n > MaxQuery:
		return nil, 0, amber.Errorf(amber.KindInvalid, op, "", "the query is too long")
	case n < MinQuery:
		return []Match{}, 0, nil
	case limit == 0:
		limit = DefaultResults
	}
	limit = min(limit, MaxResults)
	list, err := s.list(ctx, op)
	if err != nil {
		return nil, 0, err
	}
	found, query = []Match{}, names.Fold(query)
	for _, h := range list {
		f, err := s.Get(ctx, h.Name)
		if amber.KindOf(err) == amber.KindNotFound {
			continue // gone since
		}
		if err != nil {
			return nil, 0, err
		}
		snippet, ok := search(f, query)
		if !ok {
			continue
		}
		if total++; total > offset && len(found) < limit {
			found = append(found, Match{FileInfo: f.FileInfo, Snippet: snippet})
		}
	}
	return found, total, nil
}

// search looks for a folded query in a file.
func search(f colony.File, query string) (snippet string, ok bool) {
	folded := names.Fold(f.Content) // of as many characters: a place in it is one in the text
	at := strings.Index(folded, query)
	if at >= 0 {
		return cutOut(f.Content, folded, query, utf8.RuneCountInString(folded[:at])), true
	}
	if strings.Contains(names.Fold(f.Name), query) {
		return clip(f.Content, around), true
	}
	return "", false
}

// cutOut returns the piece of the text around its character at, where the query
// was found in the folded text, with marks.
func cutOut(text, folded, query string, at int) string {
	start := max(at-before, 0)
	size := max(around, at-start+utf8.RuneCountInString(query))
	text, folded = clip(skip(text, start), size), clip(skip(folded, start), size)
	var b strings.Builder
	for {
		at := strings.Index(folded, query)
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		plain, rest := split(text, utf8.RuneCountInString(folded[:at]))
		find, rest := split(rest, utf8.RuneCountInString(query))
		b.WriteString(plain + markOpen + find + markClose)
		text, folded = rest, folded[at+len(query):]
	}
}

// split cuts a text after so many characters.
func split(s string, chars int) (head, tail string) {
	at := 0
	for range chars {
		if at == len(s) {
			break
		}
		_, n := utf8.DecodeRuneInString(s[at:])
		at += n
	}
	return s[:at], s[at:]
}

func clip(s string, chars int) string {
	head, _ := split(s, chars)
	return head
}

func skip(s string, chars int) string {
	_, tail := split(s, chars)
	return tail
}
