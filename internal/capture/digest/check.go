package digest

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
)

// Writer writes the items of a digest in place of the rules: a program or a model.
type Writer interface {
	// Label names the writer in the metadata of what it wrote.
	Label() string
	// Write returns the items of a session. They are not checked yet.
	Write(ctx context.Context, s Session) ([]Item, error)
}

// maxCheckedItems is how many items a writer may return.
const maxCheckedItems = MaxItems

// Check returns what a writer wrote about a session in the order of a digest, with
// the white space of each text collapsed. An item has a known kind, a text of at
// most [MaxItemBytes], and names turns of the session that the user or the assistant
// said. Every number, name, path and URL in it occurs in what was said, or among the
// commands and files of the session. One item that breaks a rule spoils all: a writer
// that invents once is not to be believed. The error is of kind invalid and
// holds no text of the session.
func Check(s Session, items []Item) ([]Item, error) {
	if len(items) == 0 || len(items) > maxCheckedItems {
		return nil, amber.Errorf(amber.KindInvalid, "check digest", string(s.ID), "the writer returned %d items, want 1 to %d", len(items), maxCheckedItems)
	}
	c := newChecker(s)
	checked := make([]Item, 0, len(items))
	counts := map[Kind]int{}
	for i, it := range items {
		it, err := c.item(it)
		if err != nil {
			return nil, amber.Errorf(amber.KindInvalid, "check digest", string(s.ID), "item %d: %w", i+1, err)
		}
		if counts[it.Kind]++; counts[it.Kind] <= most[it.Kind] {
			checked = append(checked, it)
		}
	}
	slices.SortStableFunc(checked, func(a, b Item) int { return slices.Index(Kinds(), a.Kind) - slices.Index(Kinds(), b.Kind) })
	return checked, nil
}

// checker knows what occurs in a session.
type checker struct {
	turns  map[amber.TurnID]bool
	known  map[string]bool // tokens
	folded map[string]bool // the same in lower case
}

func newChecker(s Session) checker {
	c := checker{turns: map[amber.TurnID]bool{}, known: map[string]bool{}, folded: map[string]bool{}}
	learn := func(text string) {
		for _, w := range tokens(text) {
			for _, part := range append(parts(w), w) {
				c.known[part] = true
				c.folded[strings.ToLower(part)] = true
			}
		}
	}
	for _, t := range bounded(s.Turns) {
		if t.Trust == amber.TrustImported || t.Role != amber.RoleUser && t.Role != amber.RoleAssistant {
			continue
		}
		c.turns[t.ID] = true
		learn(BothEnds(t.Content, maxTurnBytes))
	}
	for _, a := range s.Activity {
		if a.Kind == amber.ActivityCommand || a.Kind == amber.ActivityFile || a.Kind == amber.ActivityTask {
			learn(a.Name)
			learn(relative(a.Name, s.Directory))
		}
	}
	return c
}

func (c checker) item(it Item) (Item, error) {
	it.Text, it.Activity = collapse(it.Text), false
	switch {
	case !slices.Contains(Kinds(), it.Kind):
		return it, amber.Errorf(amber.KindInvalid, "check item", "", "kind %.20q is not one of the kinds of a digest", it.Kind)
	case len(it.Text) < minSentence || len(it.Text) > MaxItemBytes:
		return it, amber.Errorf(amber.KindInvalid, "check item", "", "text has %d bytes, want %d to %d", len(it.Text), minSentence, MaxItemBytes)
	case len(it.Turns) == 0 || len(it.Turns) > amber.MaxSourceRefs/4:
		return it, amber.Errorf(amber.KindInvalid, "check item", "", "the item names %d turns, want 1 to %d", len(it.Turns), amber.MaxSourceRefs/4)
	}
	for _, id := range it.Turns {
		if !c.turns[id] {
			return it, amber.Errorf(amber.KindInvalid, "check item", "", "the item names a turn that the session does not have")
		}
	}
	if c.invents(it.Text) {
		return it, amber.Errorf(amber.KindInvalid, "check item", "", "the item has a name, number, path or URL that the session does not have")
	}
	return it, nil
}

// invents reports whether a text has something that the session does not have: a token that
// tells, or inside a sentence a word with a capital letter.
func (c checker) invents(text string) bool {
	for _, s := range split(text) {
		for i, w := range tokens(s) {
			if telling(w) && !c.known[w] || i > 0 && isCapital(w) && !c.folded[strings.ToLower(w)] {
				return true
			}
		}
	}
	return false
}

// isCapital reports whether a word begins with a capital letter, as names do; "I" is none.
func isCapital(w string) bool {
	first, size := utf8.DecodeRuneInString(w)
	return len(w) > size && unicode.IsUpper(first)
}

// tokens returns the words of a text, with the marks inside names,
// paths, URLs and numbers.
func tokens(text string) []string {
	list := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("`\"'“”‘’«»()[]{}<>,;|!?*", r)
	})
	for i, w := range list {
		list[i] = strings.TrimRight(strings.TrimLeft(w, ":="), ".:=")
	}
	return slices.DeleteFunc(list, func(w string) bool { return w == "" })
}

// parts returns the names a longer name is made of.
func parts(token string) []string {
	return strings.FieldsFunc(token, func(r rune) bool { return strings.ContainsRune("/\\.:=@#&+-_", r) })
}

// telling reports whether a token is more than a word of the language: it has a
// digit, a mark inside, or a capital letter behind its first.
func telling(w string) bool {
	inner := strings.Trim(w, "-_./\\:=@#&+")
	if abbreviations[strings.ToLower(inner)] || inner == "and/or" {
		return false
	}
	for i, r := range inner {
		if unicode.IsDigit(r) || i > 0 && unicode.IsUpper(r) || strings.ContainsRune("/\\.:=@#&+_", r) {
			return true
		}
	}
	return inner != w && strings.ContainsAny(w, "/\\@#_") || strings.HasPrefix(w, "--")
}
