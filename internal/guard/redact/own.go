package redact

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Options add to the rules, and take from them. The zero value is [New].
type Options struct {
	// Own are patterns of one's own, each "NAME = PATTERN". A name is that of the
	// marker; a pattern is RE2.
	Own []string
	// Exceptions are patterns of texts that are no secrets: what a rule found is
	// left alone where one of them matches all of it. Private passages have none.
	Exceptions []string
	// KeepPrivate leaves passages between private tags as they are; secrets in
	// them are found as anywhere else.
	KeepPrivate bool
}

// Bounds of own patterns, so that neither many nor strange ones make redaction
// slow. A pattern takes time linear in the text: RE2 has no backtracking.
const (
	MaxOwn          = 64   // rules, and as many exceptions
	MaxPatternBytes = 1000 // of one
	maxOwnName      = 40
	maxProgram      = 2000 // instructions of one pattern, compiled
	minOwnMatch     = 4    // bytes: a shorter secret cannot be told from other text
)

// own is a pattern of one's own.
type own struct {
	name string
	expr *regexp.Regexp
}

// With returns a Redactor with all [Rules] and those of the options. The error
// says which pattern is wrong and why, without repeating it: it may hold a secret.
func With(o Options) (*Redactor, error) {
	r := New()
	if o.KeepPrivate {
		r.shapes = newMatcher(slices.Concat(shapeRules[1:], [][]rule{r.markerRules()}), false)
	}
	if len(o.Own) > MaxOwn || len(o.Exceptions) > MaxOwn {
		return nil, fmt.Errorf("list has %d patterns, want at most %d", max(len(o.Own), len(o.Exceptions)), MaxOwn)
	}
	for i, line := range o.Own {
		p, err := parseOwn(line)
		if err != nil {
			return nil, fmt.Errorf("pattern %d: %w", i+1, err)
		}
		r.own = append(r.own, p)
	}
	for i, pattern := range o.Exceptions {
		expr, err := compileOwn(pattern)
		if err != nil {
			return nil, fmt.Errorf("pattern %d: %w", i+1, err)
		}
		r.except = append(r.except, regexp.MustCompile(`^(?:`+expr.String()+`)$`))
	}
	return r, nil
}

var ownName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

func parseOwn(line string) (own, error) {
	name, pattern, ok := strings.Cut(line, "=")
	name, pattern = strings.TrimSpace(name), strings.TrimSpace(pattern)
	switch {
	case !ok:
		return own{}, errors.New("want NAME = PATTERN, found no =")
	case !ownName.MatchString(name) || len(name) > maxOwnName:
		return own{}, fmt.Errorf("want a name of at most %d lower-case letters, digits and -, found another", maxOwnName)
	case slices.Contains(Rules(), name):
		return own{}, fmt.Errorf("%s is the name of a rule of Amber: choose another", name)
	}
	expr, err := compileOwn(pattern)
	if err != nil {
		return own{}, fmt.Errorf("%s: %w", name, err)
	}
	return own{name, expr}, nil
}

// compileOwn compiles a pattern that keeps the promises of this package: it looks
// at nothing beside what it removes, and it never matches what ends a string of
// JSON, a line or a marker.
func compileOwn(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > MaxPatternBytes {
		return nil, fmt.Errorf("the pattern has %d bytes, want at most %d", len(pattern), MaxPatternBytes)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		if bad, ok := errors.AsType[*syntax.Error](err); ok { // the rest of it repeats the pattern
			return nil, fmt.Errorf("the pattern is not RE2: %s", bad.Code)
		}
		return nil, errors.New("the pattern is not RE2")
	}
	if err := narrow(tree); err != nil {
		return nil, err
	}
	if n := fewest(tree); n < minOwnMatch {
		return nil, fmt.Errorf("the pattern matches texts of %d bytes, want at least %d", n, minOwnMatch)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil || len(prog.Inst) > maxProgram {
		return nil, fmt.Errorf("the pattern is too large: want at most %d instructions", maxProgram)
	}
	return regexp.Compile(tree.String())
}

// isStop reports whether a pattern may not match a character: it ends a
// string of JSON, a line or a marker.
func isStop(r rune) bool { return r < ' ' || strings.ContainsRune(`"\[]`, r) }

// stops are those characters as ranges, in order.
var stops = []rune{0, 0x1f, '"', '"', '[', ']'} // [ \ ] follow one another

// narrow takes them out of a pattern. The error says what a pattern may not have.
func narrow(t *syntax.Regexp) error {
	switch t.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return errors.New(`the pattern has ^, $, \b or the like: what stands beside a secret changes when the secret goes`)
	case syntax.OpLiteral:
		if slices.ContainsFunc(t.Rune, isStop) {
			return errors.New("the pattern matches a quotation mark, a backslash, a square bracket or a control character, which may not be removed")
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		*t = syntax.Regexp{Op: syntax.OpCharClass, Flags: t.Flags, Rune: without([]rune{0, 0x10ffff})}
	case syntax.OpCharClass:
		if t.Rune = without(t.Rune); len(t.Rune) == 0 {
			return errors.New("the pattern has a class of characters that may not be removed")
		}
	}
	for _, sub := range t.Sub {
		if err := narrow(sub); err != nil {
			return err
		}
	}
	return nil
}

// without returns ranges without the stops.
func without(ranges []rune) (out []rune) {
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		for j := 0; j+1 < len(stops) && lo <= hi; j += 2 {
			if stops[j] > hi || stops[j+1] < lo {
				continue
			}
			if stops[j] > lo {
				out = append(out, lo, stops[j]-1)
			}
			lo = stops[j+1] + 1
		}
		if lo <= hi {
			out = append(out, lo, hi)
		}
	}
	return out
}

// fewest returns how many characters a match has at least.
func fewest(t *syntax.Regexp) int {
	switch t.Op {
	case syntax.OpLiteral:
		return len(t.Rune)
	case syntax.OpCharClass:
		return 1
	case syntax.OpCapture, syntax.OpPlus:
		return fewest(t.Sub[0])
	case syntax.OpRepeat:
		return min(t.Min*fewest(t.Sub[0]), MaxPatternBytes)
	case syntax.OpConcat:
		n := 0
		for _, sub := range t.Sub {
			n += fewest(sub)
		}
		return n
	case syntax.OpAlternate:
		n := MaxPatternBytes
		for _, sub := range t.Sub {
			n = min(n, fewest(sub))
		}
		return n
	}
	return 0
}

// settle looks again until nothing more is found: what own patterns and exceptions
// make of a text depends on where the gaps in it begin and end, and every secret
// that goes makes them smaller. Where that takes too long, exceptions are given up.
func (r *Redactor) settle(text string, doc *document, spans []span) []span {
	const rounds = 8
	for i := range 2 * rounds {
		except := r.except
		if i >= rounds {
			except = nil
		}
		more := r.round(text, doc, spans, except, 0)
		if slices.Equal(more, spans) {
			return spans
		}
		spans = more
	}
	return spans
}

// ownPass finds what own patterns match from lo up to hi. The first pattern of the
// list has the first choice.
func (r *Redactor) ownPass(text string, doc *document, except []*regexp.Regexp, lo, hi int, found []span) []span {
	var here []span
	for _, o := range r.own {
		here = gaps(lo, hi, here, func(lo, hi int, found []span) []span {
			for _, m := range o.expr.FindAllStringIndex(text[lo:hi], -1) {
				if s, ok := doc.fit(text, span{lo + m[0], lo + m[1], o.name}); ok {
					found = append(found, s)
				}
			}
			return found
		})
		here = judged(text, here, except)
	}
	return append(found, here...)
}

// fit returns what of a match may go. In JSON that is only what stands in a
// string, and no part of an escape.
func (d *document) fit(text string, s span) (span, bool) {
	if !d.isJSON(text, s.start) {
		return s, true
	}
	if !d.inString(text, s.start) {
		return s, false
	}
	s.start = max(s.start, escapeEnd(text, s.start))
	return s, s.start < s.end
}

// escapeEnd returns where the escape ends that at stands in, 0 when it stands in
// none.
func escapeEnd(text string, at int) int {
	const longest = len(`\u0000`)
	for slash := at - 1; slash >= max(0, at-longest+1); slash-- {
		if text[slash] != '\\' {
			continue
		}
		first := slash
		for first > 0 && text[first-1] == '\\' {
			first--
		}
		switch {
		case (slash-first)%2 == 1: // the one before it escapes it
			return 0
		case slash+1 < len(text) && text[slash+1] == 'u':
			return min(slash+longest, len(text))
		case slash == at-1:
			return at + 1
		}
		return 0
	}
	return 0
}

// inString reports whether at stands in a string of the JSON document there.
func (d *document) inString(text string, at int) bool {
	lo, hi := 0, len(text)
	if !d.whole {
		lo, hi = d.start, d.end
	}
	if d.strings == nil || d.stringsOf != [2]int{lo, hi} {
		d.strings, d.stringsOf = []int{}, [2]int{lo, hi}
		for start, end := nextString(text[:hi], lo); start < hi; start, end = nextString(text[:hi], end) {
			d.strings = append(d.strings, start, end)
		}
	}
	i, found := slices.BinarySearch(d.strings, at)
	return found && i%2 == 0 || !found && i%2 == 1
}

// judged returns what of spans no exception names: what one does is as if no rule
// had found it.
func judged(text string, spans []span, except []*regexp.Regexp) []span {
	if len(except) == 0 {
		return spans
	}
	return slices.DeleteFunc(spans, func(s span) bool {
		return s.rule != "" && s.rule != privateName && slices.ContainsFunc(except, func(e *regexp.Regexp) bool { return e.MatchString(text[s.start:s.end]) })
	})
}

// Rules returns the names of all rules of r, sorted: those of [Rules] and its
// own.
func (r *Redactor) Rules() []string {
	names := Rules()
	for _, o := range r.own {
		names = append(names, o.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
