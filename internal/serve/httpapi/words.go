package httpapi

import (
	"embed"
	"io/fs"
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

// words returns the text of the first of some names that has one, "" for none.
type words func(names ...string) string

// readWords reads the table of words. A test checks every line of it.
var readWords = sync.OnceValue(func() map[string]string {
	table := map[string]string{}
	names, _ := fs.Glob(wordFiles, "words/*.txt") // the pattern is a constant
	for _, name := range names {
		b, err := wordFiles.ReadFile(name)
		if err != nil {
			panic("httpapi: " + err.Error()) // it is built in
		}
		last := ""
		for line := range strings.SplitSeq(string(b), "\n") {
			key, text, _ := strings.Cut(line, ":")
			switch {
			case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
				last = ""
			case strings.HasPrefix(line, " ") && last != "":
				table[last] += " " + strings.TrimSpace(line)
			default:
				last, table[key] = key, strings.TrimSpace(text)
			}
		}
	}
	return table
})

// inTable finds words in the table.
func inTable(names ...string) string {
	for _, name := range names {
		if text, ok := readWords()[name]; ok {
			return text
		}
	}
	return ""
}
