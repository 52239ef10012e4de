package hook

import (
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
)

// fileTools are tools that touch files, by their folded names, and what they
// do to them.
var fileTools = map[string]amber.FileAction{
	"read": amber.FileRead, "readfile": amber.FileRead, "view": amber.FileRead, "viewfile": amber.FileRead,
	"viewimage": amber.FileRead, "notebookread": amber.FileRead, "readmanyfiles": amber.FileRead,
	"create": amber.FileCreated, "createfile": amber.FileCreated,
	"write": amber.FileModified, "writefile": amber.FileModified, "edit": amber.FileModified, "editfile": amber.FileModified,
	"editfiles": amber.FileModified, "multiedit": amber.FileModified, "notebookedit": amber.FileModified,
	"editnotebookfile": amber.FileModified, "replace": amber.FileModified, "searchreplace": amber.FileModified,
	"replacestringinfile": amber.FileModified, "inserteditintofile": amber.FileModified,
	"delete": amber.FileDeleted, "deletefile": amber.FileDeleted,
}

// touched adds the files that a tool has touched.
func (d *draft) touched(tool string, input, answer value) {
	name := fold(tool)
	if strings.Contains(name, "patch") {
		d.patched(firstOf(input.str(), input.first("input", "patch", "patchText", "command").str()))
		return
	}
	action, ok := fileTools[name]
	if name == "strreplaceeditor" {
		action, ok = editorAction(input.get("command").str()), true
	}
	if !ok {
		return
	}
	if strings.HasPrefix(name, "write") && isNew(answer, d.value.get("metadata")) {
		action = amber.FileCreated
	}
	d.addFile(input.first("file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "file").str(), action)
	for _, f := range input.first("files", "paths", "file_paths").list {
		d.addFile(firstOf(f.str(), f.first("path", "filePath").str()), action)
	}
}

// editorAction is what a command of an editor tool does.
func editorAction(command string) amber.FileAction {
	switch command {
	case "view":
		return amber.FileRead
	case "create":
		return amber.FileCreated
	}
	return amber.FileModified
}

// isNew reports whether the answer of a tool that writes says that the file is
// new.
func isNew(answer, metadata value) bool {
	return answer.get("type").str() == "create" || metadata.get("exists").isFalse() ||
		strings.HasPrefix(outputText(answer), "Successfully created")
}

// patched adds the files that a patch names in the headers that Codex gives it.
func (d *draft) patched(patch string) {
	headers := []struct {
		prefix string
		action amber.FileAction
	}{
		{"*** Add File: ", amber.FileCreated},
		{"*** Update File: ", amber.FileModified},
		{"*** Delete File: ", amber.FileDeleted},
		{"*** Move to: ", amber.FileCreated},
	}
	for line := range strings.Lines(patch) {
		for _, h := range headers {
			if path, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), h.prefix); ok {
				d.addFile(path, h.action)
			}
		}
	}
}

// addFile adds a file, its path made absolute.
func (d *draft) addFile(path string, action amber.FileAction) {
	path = cleanPath(path)
	if path == "" {
		return
	}
	if !isAbs(path) && d.ev.Directory != "" {
		path = filepath.Join(d.ev.Directory, path)
	}
	f := amber.HostFile{Path: path, Action: action}
	for _, known := range d.ev.Files {
		if known == f {
			return
		}
	}
	if len(d.ev.Files) == maxList {
		d.clean.lost += int64(len(path))
		return
	}
	d.ev.Files = append(d.ev.Files, f)
}

// fillFiles takes back files that a tool that failed has not touched.
func (d *draft) fillFiles() {
	if d.ev.Tool.Failed {
		d.ev.Files = nil
	}
}
