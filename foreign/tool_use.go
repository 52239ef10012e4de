package foreign

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
)

// ToolUse is one use of a tool by an agent.
type ToolUse struct {
	Name      string
	Input     json.RawMessage
	Directory string // where relative paths begin
	// Over says that the result is known, and Failed what it was.
	Over, Failed bool
}

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

// shells run a command, and fileTools touch a file, by their folded names. Hooks know the same tools by the same names.
var (
	shells = map[string]bool{
		"bash": true, "shell": true, "localshell": true, "runshellcommand": true, "execcommand": true,
		"runinterminal": true, "runterminalcmd": true, "runterminalcommand": true, "execute": true, "powershell": true,
	}
	fileTools = map[string]string{
		"read": "read", "readfile": "read", "view": "read", "notebookread": "read",
		"create": "created", "createfile": "created",
		"write": "modified", "writefile": "modified", "edit": "modified", "editfile": "modified", "multiedit": "modified",
		"notebookedit": "modified", "editnotebook": "modified", "replace": "modified", "searchreplace": "modified", "strreplace": "modified",
		"delete": "deleted", "deletefile": "deleted",
	}
)

// Activity returns what the use of a tool is to Amber, under the names that hooks give it: the tool, its command, the
// file it touched, the things to do it noted.
func (u ToolUse) Activity() []amber.Activity {
	var in toolInput
	if Lenient(json.Unmarshal(u.Input, &in)) != nil {
		in = toolInput{}
	}
	status := ""
	switch {
	case u.Failed:
		status = "failed"
	case u.Over:
		status = "completed"
	}
	list := []amber.Activity{u.did(amber.ActivityTool, firstLine(u.Name, "unknown"), string(u.Input), status)}
	folded := foldTool(u.Name)
	if command := in.command(); shells[folded] && command != "" {
		list = append(list, u.did(amber.ActivityCommand, firstLine(command, "unknown"), multiline(command), status))
	}
	if u.Failed {
		return list
	}
	if action, ok := fileTools[folded]; ok {
		if file := u.absolute(in.file()); file != "" {
			list = append(list, u.did(amber.ActivityFile, firstLine(file, "unknown"), "", action))
		}
	}
	for _, t := range in.Todos[:min(len(in.Todos), maxTasks)] {
		if name := firstLine(t.Content, ""); name != "" {
			list = append(list, u.did(amber.ActivityTask, name, strings.Trim(string(t.ID), `"`), taskStatus(t.Status)))
		}
	}
	return list
}

const maxTasks = 200

func (u ToolUse) did(kind amber.ActivityKind, name, detail, status string) amber.Activity {
	a := amber.Activity{Kind: kind, Name: name, Detail: shown(detail, amber.MaxActivityDetailBytes), Status: status, Count: 1}
	if u.Failed {
		a.Failed = 1
	}
	return a
}

// Failure returns the activity that a tool failed, and what it said.
func Failure(tool, said string) amber.Activity {
	return amber.Activity{Kind: amber.ActivityError, Name: firstLine(tool+": "+said, "an error"), Count: 1, Failed: 1}
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
func (u ToolUse) absolute(name string) string {
	name = strings.TrimSpace(name)
	if name == "" || strings.ContainsRune(name, 0) {
		return ""
	}
	drive := len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/')
	if u.Directory == "" || drive || filepath.IsAbs(name) || strings.HasPrefix(name, "/") || strings.HasPrefix(name, `\\`) {
		return filepath.Clean(name)
	}
	return filepath.Join(u.Directory, name)
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

// multiline returns a command of several lines, whose name is only the first.
func multiline(command string) string {
	if strings.Contains(strings.TrimSpace(command), "\n") {
		return command
	}
	return ""
}

// firstLine returns the first line of s that says something, or instead.
func firstLine(s, instead string) string {
	for line := range strings.Lines(shown(s, 4*amber.MaxActivityNameBytes)) {
		words := strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
		if len(words) > 0 {
			return shown(strings.Join(words, " "), amber.MaxActivityNameBytes)
		}
	}
	return instead
}

// shown returns at most max bytes of s, without what a store refuses.
func shown(s string, max int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s[:min(len(s), max)], "\uFFFD"), "\x00", "")
	if len(s) > max {
		s = strings.ToValidUTF8(s[:max], "")
	}
	return s
}
