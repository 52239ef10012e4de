// Package claudeai reads the data export of Claude.ai: conversations, memories, and the documents of projects.
package claudeai

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

const name = "claude-ai"

// Format is the data export of Claude.ai: a zip file, its folder, a folder of the zip files of one export, or a file of it.
var Format = foreign.Format{
	Name:   name,
	Title:  "Claude.ai export",
	Detect: detect,
	Read:   read,
}

const (
	maxHeads  = 3 // files of a kind that Detect looks at
	maxFolder = 2 // folders above an export; a zip file is one
)

// kind says what a file of an export holds.
type kind int

const (
	conversations kind = iota
	projects
	memories
)

// String returns the name of the files of a kind, and of the folder of those that have one each.
func (k kind) String() string { return [...]string{"conversations", "projects", "memories"}[k] }

// holds reports whether a file is one of the kind by its name.
func (k kind) holds(t *foreign.Tree, f foreign.File) bool {
	depth := strings.Count(f.Name, "/")
	if path.Base(f.Name) == k.String()+".json" {
		return depth <= maxFolder
	}
	return k != conversations && f.Is(".json") && inFolder(t, f, k.String()) && depth <= maxFolder+1
}

// inFolder reports whether a file lies directly in a folder of that name, which may be the one that was given.
func inFolder(t *foreign.Tree, f foreign.File, folder string) bool {
	return path.Base(path.Dir(path.Join(t.Base(), f.Name))) == folder
}

func detect(t *foreign.Tree) foreign.Match {
	for _, k := range []kind{conversations, memories, projects} {
		for i, f := range files(t, k) {
			if i < maxHeads && k.fits(f.Names()) {
				return foreign.Sure
			}
		}
	}
	return foreign.No
}

// files returns the files of a kind by their names. A file that is given alone may have any, and its kind is that of its
// content.
func files(t *foreign.Tree, k kind) (out []foreign.File) {
	if f, ok := t.Single(); ok {
		if k.fits(f.Names()) {
			out = append(out, f)
		}
		return out
	}
	for _, f := range t.Files() {
		if k.holds(t, f) {
			out = append(out, f)
		}
	}
	return out
}

// fits reports whether the first object of a file is one of the kind.
func (k kind) fits(names map[string]json.Token) bool {
	has := func(name string) bool { _, ok := names[name]; return ok }
	switch k {
	case conversations:
		return has("uuid") && names["chat_messages"] == json.Delim('[')
	case projects:
		return has("uuid") && has("name") && (has("prompt_template") || names["docs"] == json.Delim('[')) && !has("chat_messages")
	}
	return has("conversations_memory") || has("project_memories") || has("memory_files") && has("account_uuid")
}

// isTheirs reports whether the first element is a conversation of ChatGPT, whose files have the same names.
func isTheirs(names map[string]json.Token) bool {
	_, ok := names["mapping"]
	return ok
}
