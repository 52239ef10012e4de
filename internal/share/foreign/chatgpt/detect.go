// Package chatgpt reads the data export of ChatGPT: conversations, and the saved memories and custom instructions that
// only show in them.
package chatgpt

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

const name = "chatgpt"

// Format is the data export of ChatGPT: a zip file, its folder, or one conversations.json.
var Format = foreign.Format{
	Name:   name,
	Title:  "ChatGPT export",
	Detect: detect,
	Read:   read,
}

const (
	maxHeads  = 4 // files that Detect looks at
	maxFolder = 2 // folders above a file; a zip file is one
)

func detect(t *foreign.Tree) foreign.Match {
	files := candidates(t)
	return foreign.SureIf(slices.ContainsFunc(files[:min(len(files), maxHeads)], func(f foreign.File) bool { return isOurs(f.Names()) }))
}

// isOurs reports whether the first element of a file is a conversation of ChatGPT.
func isOurs(names map[string]json.Token) bool {
	if names["mapping"] != json.Delim('{') {
		return false
	}
	for _, other := range []string{"title", "create_time", "current_node", "conversation_id"} {
		if _, ok := names[other]; ok {
			return true
		}
	}
	return false
}

// isTheirs reports whether the first element is a conversation of Claude.ai, whose files have the same names.
func isTheirs(names map[string]json.Token) bool {
	_, ok := names["chat_messages"]
	return ok
}

// candidates returns the files that hold conversations by their names. A file that is given alone may have any.
func candidates(t *foreign.Tree) (out []foreign.File) {
	if f, ok := t.Single(); ok {
		return []foreign.File{f}
	}
	for _, pattern := range []string{"conversations.json", "conversations-*.json"} {
		for _, f := range t.Matching(pattern) {
			if strings.Count(f.Name, "/") <= maxFolder {
				out = append(out, f)
			}
		}
	}
	return out
}
