package digest

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentence is one sentence of a turn.
type sentence struct {
	text      string // with its white space collapsed
	whole     string // the paragraph it is in
	at        int    // where it begins there
	paragraph int    // of the turn
	lead      string // the heading above it, or the line with a colon before its list
	code      bool   // a line of a code block with commands
}

// Bounds of one sentence.
const (
	maxSentence = 600 // bytes; a longer one is no sentence
	minSentence = 8
)

// reader takes a text apart line by line.
type reader struct {
	out       []sentence
	limit     int
	long      sentence // the beginning of the first one that is too long
	block     []string // the lines of the paragraph or list item that is being read
	item      bool     // the block is a list item
	heading   string   // the last one
	colon     string   // the last paragraph, where it ends in a colon
	list      string   // the line with a colon before the list that is being read
	paragraph int
	fence     string // what ends the code block; "" outside
	shell     bool   // the code block holds commands
}

// sentences returns the first sentences of a text, at most limit: those of
// paragraphs and list items, and the lines of code blocks that hold commands. Other
// code blocks, quotations and tables are left out. Where all sentences of a text are too
// long, as in a text without full stops, it returns the beginning of the first.
func sentences(text string, limit int) []sentence {
	r := &reader{limit: limit}
	for line := range strings.Lines(text) {
		if len(r.out) >= limit {
			return r.out[:limit]
		}
		r.line(strings.TrimSpace(line))
	}
	r.end()
	if len(r.out) == 0 && r.long.text != "" {
		r.out = append(r.out, r.long)
	}
	return r.out[:min(len(r.out), limit)]
}

func (r *reader) line(line string) {
	switch {
	case r.fence != "":
		r.code(line)
	case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
		r.end()
		r.fence, r.shell = line[:3], shells[strings.ToLower(strings.TrimSpace(strings.Trim(line, "`~")))]
		r.paragraph++
	case line == "":
		r.end()
		r.paragraph++
	case strings.HasPrefix(line, ">"), strings.HasPrefix(line, "|"):
		r.end()
		r.paragraph++
	case isHeading(line):
		r.end()
		r.heading, r.colon, r.list = collapse(strings.Trim(line, "#*_: ")), "", ""
		r.paragraph++
	default:
		r.prose(line)
	}
}

// shells are the names of code blocks that hold commands.
var shells = map[string]bool{"sh": true, "bash": true, "zsh": true, "shell": true, "console": true, "shell-session": true, "powershell": true, "fish": true}

func (r *reader) code(line string) {
	if strings.HasPrefix(line, r.fence) {
		r.fence = ""
		return
	}
	line = collapse(strings.TrimPrefix(line, "$ "))
	if r.shell && len(line) >= minSentence && len(line) <= maxSentence && !strings.HasPrefix(line, "#") {
		r.out = append(r.out, sentence{text: line, whole: line, paragraph: r.paragraph, lead: r.heading, code: true})
	}
}

// prose adds a line to its paragraph; a list item begins one of its own.
func (r *reader) prose(line string) {
	body, item := listItem(line)
	if !item {
		r.item = r.item && len(r.block) > 0
		r.block = append(r.block, line)
		return
	}
	r.end()
	r.paragraph++
	r.block, r.item = append(r.block, body), true
	if r.colon != "" {
		r.list, r.colon = r.colon, ""
	}
}

// end cuts the paragraph that was read into sentences.
func (r *reader) end() {
	if len(r.block) == 0 {
		return
	}
	text := collapse(strings.Join(r.block, " "))
	r.block = r.block[:0]
	r.colon = ""
	if !r.item {
		r.list = ""
	}
	if strings.HasSuffix(text, ":") && len(text) <= 120 {
		r.colon = text
	}
	at := 0
	for _, s := range split(text) {
		at += strings.Index(text[at:], s)
		r.sentence(sentence{text: s, whole: text, at: at, paragraph: r.paragraph, lead: cmp.Or(r.list, r.heading)})
		at += len(s)
	}
}

// sentence keeps a sentence that is one.
func (r *reader) sentence(s sentence) {
	n := len(s.text)
	if n < minSentence || len(r.out) >= r.limit || !spoken(s.text) && !quotesCommand(s.text) {
		return
	}
	if n <= maxSentence {
		r.out = append(r.out, s)
	} else if r.long.text == "" {
		s.text = shorten(s.text, MaxItemBytes)
		r.long = s
	}
}

// isHeading reports whether a line is a heading: it begins with number signs, or
// all of it is bold.
func isHeading(line string) bool {
	bare := strings.TrimLeft(line, "#")
	if len(bare) < len(line) && strings.HasPrefix(bare, " ") {
		return true
	}
	inner := strings.TrimRight(line, ": ")
	return len(inner) > 4 && strings.HasPrefix(inner, "**") && strings.HasSuffix(strings.TrimRight(inner, ":"), "**") && strings.Count(inner, "**") == 2
}

// listItem returns the text of a list item.
func listItem(line string) (string, bool) {
	for _, mark := range []string{"- ", "* ", "+ ", "• "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			rest = strings.TrimSpace(rest)
			for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
				rest = strings.TrimPrefix(rest, box)
			}
			return rest, true
		}
	}
	digits := strings.TrimLeft(line, "0123456789")
	if n := len(line) - len(digits); n > 0 && n < 4 && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")) {
		return strings.TrimSpace(digits[2:]), true
	}
	return "", false
}

// collapse makes one line of s, without characters that do not print.
func collapse(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}

// abbreviations end in a full stop that ends no sentence, in lower case.
var abbreviations = map[string]bool{
	"e.g": true, "i.e": true, "vs": true, "etc": true, "approx": true, "nr": true, "mr": true, "mrs": true, "ms": true,
	"dr": true, "st": true, "cf": true, "ca": true, "resp": true, "incl": true, "fig": true, "p": true, "pp": true, "z.b": true, "bzw": true, "usw": true, "d.h": true,
}

// split cuts a line of text into sentences: behind a full stop, an exclamation or a
// question mark that a space follows, and behind those of other scripts.
// Nothing is cut inside back quotes.
func split(text string) (out []string) {
	start, isQuoted := 0, quoting(text)
	for i, r := range text {
		if isQuoted(r) || i < start { // a mark before the start belongs to the sentence before
			continue
		}
		switch r {
		case '。', '！', '？', '।', '۔', '؟':
			end := i + utf8.RuneLen(r)
			out = append(out, strings.TrimSpace(text[start:end]))
			start = end
		case '.', '!', '?':
			if end, ok := ends(text, start, i); ok {
				out = append(out, strings.TrimSpace(text[start:end]))
				start = end
			}
		}
	}
	if rest := strings.TrimSpace(text[start:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

// quoting returns a function that is called with the characters of a text, one after the other,
// and reports whether each is in back quotes. A back quote that has no other one behind
// it quotes nothing.
func quoting(text string) func(rune) bool {
	left, inside := strings.Count(text, "`"), false
	return func(r rune) bool {
		if r == '`' {
			left--
			inside = !inside && left > 0
		}
		return inside
	}
}

// ends reports whether the mark at i ends the sentence that begins at start, and
// where the sentence ends with its quotes and brackets.
func ends(text string, start, i int) (end int, ok bool) {
	const closing = 8 // characters that may follow a mark
	end = i + 1
	for end < len(text) && end <= i+closing && strings.IndexByte(`"')]*_.!?`, text[end]) >= 0 {
		end++
	}
	if end < len(text) && text[end] != ' ' {
		return 0, false
	}
	if text[i] != '.' {
		return end, true
	}
	word := text[start:i]
	word = strings.ToLower(strings.TrimLeft(word[strings.LastIndexByte(word, ' ')+1:], `("'[*_`))
	return end, !abbreviations[word]
}

// spoken reports whether a sentence is language and not output that was pasted: it has
// three letters or more, and most of the characters outside back quotes are letters.
func spoken(s string) bool {
	letters, all, isQuoted := 0, 0, quoting(s)
	for _, r := range s {
		switch {
		case isQuoted(r) || r == '`' || r == ' ' || unicode.IsMark(r): // an accent is part of a letter
		case unicode.IsLetter(r):
			letters++
			all++
		default:
			all++
		}
	}
	return letters >= 3 && letters*10 >= all*6
}
