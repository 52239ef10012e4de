package foreign

import (
	"bytes"
	"cmp"
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
// files, the error.
func (c ToolCall) Activity() []amber.Activity {
	text, args := c.arguments()
	o := Completed
	if c.Failed {
		o = Failed
	}
	name := callName(c.Name, "unknown")
	out := []amber.Activity{o.did(amber.ActivityTool, name, shortDetail(text))}
	command := c.command(args)
	if command != "" {
		out = append(out, o.did(amber.ActivityCommand, callName(command, "unknown"), c.ending(command)))
	}
	if c.Failed {
		failure := failure(callName(name+": "+c.Output, "an error"))
		failure.Detail = shortDetail(command)
		return append(out, failure)
	}
	return append(out, c.files(text, args)...)
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

// callShells are tools that run a command in programs without blocks alone, by their folded names.
var callShells = map[string]bool{"unifiedexec": true, "terminal": true}

func (c ToolCall) command(args Object) string {
	if name := foldName(c.Name); !shells[name] && !callShells[name] {
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
	var parts []string
	if lines := multiline(command); lines != "" {
		parts = append(parts, clip.AtWord(lines, amber.MaxActivityDetailBytes/2))
	}
	if c.Failed && c.Output != "" {
		parts = append(parts, c.Output)
	}
	return shortDetail(strings.Join(parts, "\n\n"))
}

// callFiles are tools that only programs without blocks have, by their folded names, and what they do to files.
var callFiles = map[string]string{
	"viewfile": "read", "viewimage": "read", "readmanyfiles": "read",
	"editfiles": "modified", "editnotebookfile": "modified", "replacestringinfile": "modified", "inserteditintofile": "modified",
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
	action := cmp.Or(fileTools[name], callFiles[name])
	if action == "" {
		return nil
	}
	var out []amber.Activity
	out = c.touch(out, args.Text("file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "file"), action)
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
	file = strings.TrimSpace(file)
	if file == "" || len(file) > amber.MaxActivityNameBytes || strings.ContainsRune(file, 0) || len(list) == maxTouched {
		return list
	}
	if file = filepath.Clean(file); !filepath.IsAbs(file) && c.Directory != "" {
		file = filepath.Join(c.Directory, file)
	}
	for _, a := range list {
		if a.Name == file && a.Status == action {
			return list
		}
	}
	return append(list, noted(amber.ActivityFile, callName(file, "unknown"), "", action))
}

// foldName returns a name in lower case without what is neither letter nor digit.
func foldName(s string) string { return strings.ReplaceAll(Slug(s), "-", "") }

// callName returns the first line of s as one that prints, or instead where there is none.
func callName(s, instead string) string { return lineOf(s, instead, clip.AtWord) }

func shortDetail(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	return clip.AtWord(s, amber.MaxActivityDetailBytes)
}
