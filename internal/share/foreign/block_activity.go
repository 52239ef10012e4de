package foreign

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// toolInput has the members of inputs that name a command, a file or a list of things to do.
type toolInput struct {
	Command json.RawMessage `json:"command"`
	Cmd     json.RawMessage `json:"cmd"`
	Script  string          `json:"script"`

	FilePath     string `json:"file_path"`
	FilePath2    string `json:"filePath"`
	Path         string `json:"path"`
	NotebookPath string `json:"notebook_path"`
	Target       string `json:"target_file"`

	Todos []toolTask `json:"todos"`
}

type toolTask struct {
	ID      json.RawMessage `json:"id"`
	Content string          `json:"content"`
	Status  string          `json:"status"`
}

// blockFiles are tools that only programs with such blocks have, by their folded names, and what they do to a file.
var blockFiles = map[string]string{"editnotebook": "modified", "strreplace": "modified"}

// maxTasks bounds the things to do of one use of a tool.
const maxTasks = 200

// Activity returns what a use of a tool is to Amber, under the names that hooks give it: the tool, its command, the file it
// touched, the things to do it noted. Relative paths begin in a directory.
func (b Block) Activity(directory string, o Outcome) []amber.Activity {
	var in toolInput
	if Lenient(json.Unmarshal(b.Input, &in)) != nil {
		in = toolInput{}
	}
	list := []amber.Activity{o.did(amber.ActivityTool, firstLine(b.Name, "unknown"), shown(string(b.Input), amber.MaxActivityDetailBytes))}
	folded := foldTool(b.Name)
	if command := in.command(); shells[folded] && command != "" {
		list = append(list, o.did(amber.ActivityCommand, firstLine(command, "unknown"), shown(multiline(command), amber.MaxActivityDetailBytes)))
	}
	if o == Failed {
		return list
	}
	if action := cmp.Or(fileTools[folded], blockFiles[folded]); action != "" {
		if file := absolute(directory, in.file()); file != "" {
			list = append(list, noted(amber.ActivityFile, firstLine(file, "unknown"), "", action))
		}
	}
	return append(list, in.tasks()...)
}

// tasks returns the things to do.
func (in toolInput) tasks() (list []amber.Activity) {
	for _, t := range in.Todos[:min(len(in.Todos), maxTasks)] {
		if name := firstLine(t.Content, ""); name != "" {
			id := shown(strings.Trim(string(t.ID), `"`), amber.MaxActivityDetailBytes)
			list = append(list, noted(amber.ActivityTask, name, id, taskStatus(t.Status)))
		}
	}
	return list
}

// Failure returns the activity that a tool failed, and what it said.
func Failure(tool, said string) amber.Activity {
	return failure(firstLine(tool+": "+said, "an error"))
}

// command returns a command line; a list of words is joined.
func (in toolInput) command() string {
	for _, raw := range []json.RawMessage{in.Command, in.Cmd} {
		var line string
		if json.Unmarshal(raw, &line) == nil && line != "" {
			return line
		}
		var words []string
		if json.Unmarshal(raw, &words) == nil && len(words) > 0 {
			return strings.Join(words, " ")
		}
	}
	return in.Script
}

func (in toolInput) file() string {
	for _, name := range []string{in.FilePath, in.FilePath2, in.Path, in.NotebookPath, in.Target} {
		if name != "" {
			return name
		}
	}
	return ""
}

// absolute returns a path as hooks write it.
func absolute(directory, name string) string {
	name = strings.TrimSpace(name)
	if name == "" || strings.ContainsRune(name, 0) {
		return ""
	}
	drive := len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/')
	if directory == "" || drive || filepath.IsAbs(name) || strings.HasPrefix(name, "/") || strings.HasPrefix(name, `\\`) {
		return filepath.Clean(name)
	}
	return filepath.Join(directory, name)
}

// taskStatus returns a status in the words all hosts share.
func taskStatus(s string) string {
	switch foldTool(s) {
	case "inprogress", "active", "started", "running":
		return "in_progress"
	case "completed", "complete", "done", "finished":
		return "completed"
	case "failed", "error", "cancelled", "canceled", "deleted", "blocked":
		return "failed"
	}
	return "pending"
}

// foldTool makes names that differ in case and separators equal.
func foldTool(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_.: ", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// firstLine returns the first line of s that says something, or instead.
func firstLine(s, instead string) string {
	return lineOf(shown(s, 4*amber.MaxActivityNameBytes), instead, shown)
}

// shown returns at most so many bytes of s, without what a store refuses, and without half a word at the end.
func shown(s string, most int) string {
	whole := len(s) <= most
	s = strings.ReplaceAll(strings.ToValidUTF8(s[:min(len(s), most+1)], "\uFFFD"), "\x00", "")
	if whole {
		return clip.AtWord(s, most)
	}
	return clip.AtWord(s, min(most, max(len(s)-1, 0)))
}
