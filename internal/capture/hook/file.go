package hook

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber/internal/capture/journal"
)

// fileTools are tools that touch files, by their folded names, and what they
// do to them.
var fileTools = map[string]journal.FileAction{
	"read": journal.FileRead, "readfile": journal.FileRead, "view": journal.FileRead, "viewfile": journal.FileRead,
	"viewimage": journal.FileRead, "notebookread": journal.FileRead, "readmanyfiles": journal.FileRead,
	"create": journal.FileCreated, "createfile": journal.FileCreated,
	"write": journal.FileModified, "writefile": journal.FileModified, "edit": journal.FileModified, "editfile": journal.FileModified,
	"editfiles": journal.FileModified, "multiedit": journal.FileModified, "notebookedit": journal.FileModified,
	"editnotebookfile": journal.FileModified, "replace": journal.FileModified, "searchreplace": journal.FileModified,
	"replacestringinfile": journal.FileModified, "inserteditintofile": journal.FileModified,
	"delete": journal.FileDeleted, "deletefile": journal.FileDeleted,
}

// touched adds the files that a tool has touched.
func (d *draft) touched(tool string, input, answer value) {
	name := fold(tool)
	if strings.Contains(name, "patch") {
		d.patched(cmp.Or(input.str(), input.first("input", "patch", "patchText", "command").str()))
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
		action = journal.FileCreated
	}
	d.addFile(input.first("file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "file").str(), action)
	for _, f := range input.first("files", "paths", "file_paths").list {
		d.addFile(cmp.Or(f.str(), f.first("path", "filePath").str()), action)
	}
}

// editorAction is what a command of an editor tool does.
func editorAction(command string) journal.FileAction {
	switch command {
	case "view":
		return journal.FileRead
	case "create":
		return journal.FileCreated
	}
	return journal.FileModified
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
		action journal.FileAction
	}{
		{"*** Add File: ", journal.FileCreated},
		{"*** Update File: ", journal.FileModified},
		{"*** Delete File: ", journal.FileDeleted},
		{"*** Move to: ", journal.FileCreated},
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
func (d *draft) addFile(path string, action journal.FileAction) {
	path = cleanPath(path)
	if path == "" {
		return
	}
	if !isAbs(path) && d.ev.Directory != "" {
		path = filepath.Join(d.ev.Directory, path)
	}
	f := journal.HostFile{Path: path, Action: action}
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
