package httpapi

import (
	"bufio"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The words of the OpenAPI document. They are in files of their own, since the types that they are about are those
// of other packages. A line is
//
//	Memory.content: The text that is remembered.
//
// and goes on in lines that begin with a space. In front of the colon is one of
//
//	Memory           a schema
//	Memory.content   a field of it; also that of MemoryAsked, and of schemas that embed a Memory
//	*.created_at     a field that means the same everywhere
//	Scope=session    a word of an enum
//	memory.write     an operation
//	tag memory       the operations of one sort
//
// A line that begins with # is for the reader.
//
//go:embed words
var wordFiles embed.FS

// words is the table of what the document says in words.
type words struct {
	text map[string]string
	used map[string]bool // by what was made until now
}

var wordKey = regexp.MustCompile(`^(tag [a-z_]+|[a-z_]+\.[a-z_.]+|(\*|[A-Z][A-Za-z]*)(\.[a-z_0-9]+)?|[A-Z][A-Za-z]*=[a-z_]+)$`)

// readWords reads the table. It leaves out the lines that it cannot read, and lists them in wrong: a test sees to
// it that there are none.
func readWords(files fs.FS) (table map[string]string, wrong []string) {
	table = map[string]string{}
	names, err := fs.Glob(files, "words/*.txt")
	if err != nil || len(names) == 0 {
		return table, []string{fmt.Sprintf("no files of words: %v", err)}
	}
	for _, name := range names {
		f, err := files.Open(name)
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		lines, last := bufio.NewScanner(f), ""
		for n := 1; lines.Scan(); n++ {
			line, at := lines.Text(), fmt.Sprintf("%s:%d", name, n)
			switch {
			case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
				last = ""
			case strings.HasPrefix(line, " ") && last != "":
				table[last] += " " + strings.TrimSpace(line)
			default:
				var why string
				if last, why = addWord(table, line); why != "" {
					wrong = append(wrong, at+": "+why)
				}
			}
		}
		if err := lines.Err(); err != nil {
			wrong = append(wrong, name+": "+err.Error())
		}
		_ = f.Close() // it was only read
	}
	return table, wrong
}

// addWord adds a line to the table and returns what it is about, or what is wrong with it.
func addWord(table map[string]string, line string) (key, wrong string) {
	key, text, ok := strings.Cut(line, ":")
	text = strings.TrimSpace(text)
	switch {
	case !ok:
		return "", "there is no colon"
	case !wordKey.MatchString(key):
		return "", fmt.Sprintf("%q is not the name of anything", key)
	case table[key] != "":
		return "", key + " is there twice"
	case text == "":
		return "", key + " has no text"
	}
	table[key] = text
	return key, ""
}

var allWords = sync.OnceValue(func() map[string]string {
	table, _ := readWords(wordFiles)
	return table
})

func newWords() *words { return &words{text: allWords(), used: map[string]bool{}} }

// find returns the text of the first of the names that has one, "" for none.
func (w *words) find(names ...string) string {
	for _, name := range names {
		if text, ok := w.text[name]; ok {
			w.used[name] = true
			return text
		}
	}
	return ""
}

// unused are the names that nothing was found by.
func (w *words) unused() (names []string) {
	for name := range w.text {
		if !w.used[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
