package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pattern"
)

// observation is a piece of text that basic-memory keeps as a fact of its own.
type observation struct {
	category, text, context, qualifier string
	tags                               []string
}

var (
	withCategory  = pattern.Of(`^\[([^\[\]()]+)\]\s+(.+)`)
	emptyCategory = pattern.Of(`^\[\]\s+(.+)`)
	linkAlone     = pattern.Of(`^(\[.*?\]\(.*?\)|\[\[.*?\]\])$`)
	clock         = pattern.Of(`^\d{1,3}:\d{2}(:\d{2})?([.,]\d{1,3})?(\s+-\s+\d{1,3}:\d{2}(:\d{2})?([.,]\d{1,3})?)?$`)
	directive     = pattern.Of(`\s+#bm:links_to\s*$`)
)

// observed returns the observation that a block is.
func observed(b block) (observation, bool) {
	if b.quote || b.heading {
		return observation{}, false
	}
	text := strings.TrimSpace(directive().ReplaceAllString(b.text, ""))
	category, rest := categoryOf(text)
	switch {
	case strings.HasPrefix(text, "[ ]"), strings.HasPrefix(text, "[x]"), strings.HasPrefix(text, "[-]"), linkAlone().MatchString(text):
		return observation{}, false
	case category == "" && !hasTag(withoutCode(text)):
		return observation{}, false
	case category != "":
		text = rest
	default:
		if m := emptyCategory().FindStringSubmatch(text); m != nil {
			text = strings.TrimSpace(m[1])
		}
	}
	o := observation{category: category}
	o.qualifier, text = cutQualifier(text)
	if at := strings.LastIndex(text, "("); at >= 0 && strings.HasSuffix(text, ")") {
		o.context, text = strings.TrimSpace(text[at+1:len(text)-1]), strings.TrimSpace(text[:at])
	}
	o.text, o.tags = text, tagsOf(withoutCode(text))
	return o, o.text != ""
}

// categoryOf returns what stands in brackets before a text. A box of a task and the time of a transcript are no
// category.
func categoryOf(text string) (category, rest string) {
	m := withCategory().FindStringSubmatch(text)
	if m == nil {
		return "", ""
	}
	category = strings.TrimSpace(m[1])
	r, size := utf8.DecodeRuneInString(category)
	box := size == len(category) && (r == 'x' || r == 'X' || !unicode.IsLetter(r) && !unicode.IsNumber(r))
	if box || clock().MatchString(category) {
		return "", ""
	}
	return category, strings.TrimSpace(m[2])
}

func hasTag(text string) bool {
	for word := range strings.FieldsFuncSeq(text, isSpace) {
		if word[0] == '#' {
			return true
		}
	}
	return false
}

// isSpace is what Python takes for space.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// tagsOf returns the words that begin with "#"; "#a#b" is two.
func tagsOf(text string) (out []string) {
	for word := range strings.FieldsFuncSeq(text, isSpace) {
		if word[0] != '#' {
			continue
		}
		for tag := range strings.SplitSeq(word, "#") {
			if tag != "" {
				out = append(out, tag)
			}
		}
	}
	return out
}

var kinds = map[string]amber.MemoryKind{
	"decision": amber.ProjectFact, "fact": amber.ProjectFact, "tech": amber.ProjectFact,
	"preference": amber.UserPreference,
	"rule":       amber.Constraint, "requirement": amber.Constraint, "constraint": amber.Constraint,
	"tip": amber.WorkflowInsight, "technique": amber.WorkflowInsight, "method": amber.WorkflowInsight, "lesson": amber.WorkflowInsight,
	"problem": amber.HistoricalCase, "bug": amber.HistoricalCase, "issue": amber.HistoricalCase,
}

// kind returns what an observation is about.
func (o observation) kind() amber.MemoryKind {
	if k, ok := kinds[strings.ToLower(o.category)]; ok {
		return k
	}
	return amber.WorkspaceFact
}

const qualifierKind = `(?:effective|valid|occurred|due|mentioned)`

var (
	rangeQualifier  = pattern.Of(`^@` + qualifierKind + `?[\[(]([^\[\](),]*),([^\[\](),]*)[\])](\s+|$)`)
	quotedQualifier = pattern.Of(`^@(?:` + qualifierKind + `:)?"((?:[^"\\]|\\.)*)"(\s*|$)`)
	pointQualifier  = pattern.Of(`^@(?:` + qualifierKind + `:)?(\d\S*)(\s+|$)`)
	wordQualifier   = pattern.Of(`^@` + qualifierKind + `:(today|yesterday|tomorrow|now)(\s+|$)`)
	dateShape       = pattern.Of(`^\d{4}([-/.]\d{1,2}([-/.]\d{1,2}([T ]\d{1,2}:\d{2}\S*)?)?)?$`)
)

// cutQualifier takes off the words at the head of a text that say when it holds. It leaves words that do not read as a
// time, and a qualifier that nothing follows.
func cutQualifier(text string) (qualifier, rest string) {
	at := 0
	if m := rangeQualifier().FindStringSubmatch(text); m != nil && isBound(m[1]) && isBound(m[2]) {
		at = len(m[0])
	} else if m := quotedQualifier().FindStringSubmatch(text); m != nil && strings.ContainsAny(m[1], "0123456789") {
		at = len(m[0])
	} else if m := pointQualifier().FindStringSubmatch(text); m != nil && dateShape().MatchString(m[1]) {
		at = len(m[0])
	} else if m := wordQualifier().FindStringSubmatch(text); m != nil {
		at = len(m[0])
	}
	if rest = strings.TrimSpace(text[at:]); at == 0 || rest == "" {
		return "", text
	}
	return strings.TrimSpace(text[:at]), rest
}

// isBound reports whether one end of a range is a date, or open.
func isBound(s string) bool {
	s = strings.Trim(strings.TrimSpace(s), `"`)
	return s == "" || s == "infinity" || s == "-infinity" || dateShape().MatchString(s)
}
