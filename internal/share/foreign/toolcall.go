package foreign

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// ToolCall is one use of a tool in a transcript.
type ToolCall struct {
	Name      string
	Input     json.RawMessage // the arguments: an object, a text that holds one, or a plain text
	Output    string          // what the tool said; only looked at where it failed
	Failed    bool
	Directory string // where relative paths start
}

// Activity returns what the call amounts to, under the names that hooks give the same call: the tool, the command, the
// files, the things to do, the error.
func (c ToolCall) Activity() []amber.Activity {
	if !c.Failed {
		return c.activity(Completed)
	}
	_, args := c.arguments()
	failure := Failure(callName(c.Name, "unknown"), c.Output)
	failure.Detail = shortDetail(c.command(args))
	return append(c.activity(Failed), failure)
}

// activity is Activity of a call with an outcome, without the error.
func (c ToolCall) activity(o Outcome) []amber.Activity {
	text, args := c.arguments()
	out := []amber.Activity{o.did(amber.ActivityTool, callName(c.Name, "unknown"), shortDetail(text))}
	if command := c.command(args); command != "" {
		out = append(out, o.did(amber.ActivityCommand, callName(command, "unknown"), c.ending(command)))
	}
	if o == Failed {
		return out
	}
	return append(append(out, c.files(text, args)...), tasks(args)...)
}

// Activity returns what a use of a tool amounts to, as [ToolCall.Activity] does. Relative paths begin in a directory. A failure has an
// activity of its own, [Failure].
func (b Block) Activity(directory string, o Outcome) []amber.Activity {
	return ToolCall{Name: b.Name, Input: b.Input, Directory: directory}.activity(o)
}

// Failure returns the activity that a tool failed, and what it said.
func Failure(tool, said string) amber.Activity {
	return amber.Activity{Kind: amber.ActivityError, Name: callName(tool+": "+said, "an error"), Count: 1, Failed: 1}
}

// arguments returns the input as text, and as an object if it is one.
func (c ToolCall) arguments() (text string, args Object) {
	raw := bytes.TrimSpace(c.Input)
	var s string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", nil
	case json.Unmarshal(raw, &s) == nil:
		text = s
	default:
		var b bytes.Buffer
		if json.Compact(&b, raw) != nil {
			return "", nil
		}
		text = b.String()
	}
	args, _ = ParseObject([]byte(text))
	return text, args
}

func (c ToolCall) command(args Object) string {
	if !shells[foldName(c.Name)] {
		return ""
	}
	for _, name := range []string{"command", "cmd", "script"} {
		if s := args.Text(name); s != "" {
			return s
		}
		words := args.Texts(name)
		if len(words) == 3 && strings.HasSuffix(words[0], "sh") && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
			return words[2]
		}
		if len(words) > 0 {
			return strings.Join(words, " ")
		}
	}
	return ""
}

// ending is what is worth keeping of a command beside its first line.
func (c ToolCall) ending(command string) string {
	if !strings.Contains(strings.TrimSpace(command), "\n") {
		command = "" // its name is all of it
	}
	switch {
	case !c.Failed || c.Output == "":
		return shortDetail(command)
	case command == "":
		return shortDetail(c.Output)
	}
	return shortDetail(clip.AtWord(command, amber.MaxActivityDetailBytes/2) + "\n\n" + c.Output)
}

// maxTouched bounds the files of one call.
const maxTouched = 200

func (c ToolCall) files(text string, args Object) []amber.Activity {
	name := foldName(c.Name)
	if strings.Contains(name, "patch") {
		if s := args.Text("input", "patch", "patchText", "command"); s != "" {
			text = s
		}
		return c.patched(text)
	}
	action := fileTools[name]
	if action == "" {
		return nil
	}
	var out []amber.Activity
	for _, name := range []string{"file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "file"} {
		if file, ok := args[name].(string); ok && file != "" {
			out = c.touch(out, file, action)
			break
		}
	}
	for _, list := range []string{"files", "paths", "file_paths"} {
		for _, v := range args.List(list) {
			o, _ := v.(map[string]any)
			out = c.touch(out, scalarText(v), action)
			out = c.touch(out, Object(o).Text("path", "filePath"), action)
		}
	}
	return out
}

// patchHeaders name a file in a patch of Codex.
var patchHeaders = []struct{ prefix, action string }{
	{"*** Add File: ", "created"}, {"*** Update File: ", "modified"}, {"*** Delete File: ", "deleted"}, {"*** Move to: ", "created"},
}

func (c ToolCall) patched(patch string) []amber.Activity {
	var out []amber.Activity
	for line := range strings.Lines(patch) {
		for _, h := range patchHeaders {
			if file, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), h.prefix); ok {
				out = c.touch(out, file, h.action)
			}
		}
	}
	return out
}

func (c ToolCall) touch(list []amber.Activity, file, action string) []amber.Activity {
	file = absolute(c.Directory, file)
	if file == "" || len(file) > amber.MaxActivityNameBytes || len(list) == maxTouched {
		return list
	}
	for _, a := range list {
		if a.Name == file && a.Status == action {
			return list
		}
	}
	return append(list, noted(amber.ActivityFile, callName(file, "unknown"), "", action))
}

// absolute returns a path as hooks write it; "" for what is none.
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

// maxTasks bounds the things to do of one call.
const maxTasks = 200

// tasks returns the things to do that a call notes.
func tasks(args Object) (out []amber.Activity) {
	todos := args.List("todos")
	for _, v := range todos[:min(len(todos), maxTasks)] {
		t, _ := v.(map[string]any)
		task := Object(t)
		if name := callName(task.Text("content"), ""); name != "" {
			out = append(out, noted(amber.ActivityTask, name, shortDetail(task.Text("id")), taskStatus(task.Text("status"))))
		}
	}
	return out
}

// taskStatus returns a status in the words all hosts share.
func taskStatus(s string) string {
	switch foldName(s) {
	case "inprogress", "active", "started", "running":
		return "in_progress"
	case "completed", "complete", "done", "finished":
		return "completed"
	case "failed", "error", "cancelled", "canceled", "deleted", "blocked":
		return "failed"
	}
	return "pending"
}

// foldName returns a name in lower case without what is neither letter nor digit.
func foldName(s string) string { return strings.ReplaceAll(Slug(s), "-", "") }

// maxNamed bounds the text in which a name is looked for.
const maxNamed = 64 << 10

// callName returns the first line of s that says something, cut to what a name may have, or instead where there is none.
func callName(s, instead string) string {
	for line := range strings.Lines(clip.AtWord(s, maxNamed)) {
		if words := clip.Printed(line); words != "" {
			return clip.AtWord(words, amber.MaxActivityNameBytes)
		}
	}
	return instead
}

func shortDetail(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	return clip.AtWord(s, amber.MaxActivityDetailBytes)
}
