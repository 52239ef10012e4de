package tui

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Files is a desk whose texts are temporary files, opened with the editor of the environment.
type Files struct {
	Getenv func(name string) string
	// LookPath finds a program.
	LookPath func(name string) (string, error)
}

// Keep implements [Desk]. The file is for the user alone.
func (f Files) Keep(name, text string) (path string, err error) {
	file, err := os.CreateTemp("", "amber-*.md")
	if err != nil {
		return "", &amber.Error{Op: "keep text", Kind: amber.KindInternal, ID: name, Err: err}
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", &amber.Error{Op: "keep text", Kind: amber.KindInternal, ID: name, Err: errors.Join(err, os.Remove(file.Name()))}
	}
	return file.Name(), nil
}

// Read implements [Desk].
func (f Files) Read(path string) (string, error) {
	b, err := fsx.ReadFile(fsx.OS(), path, amber.MaxContentBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", amber.Errorf(amber.KindNotFound, "read text", path, "the file does not exist")
	case err != nil:
		return "", &amber.Error{Op: "read text", Kind: amber.KindInvalid, ID: path, Err: err}
	}
	return string(b), nil
}

// Drop implements [Desk].
func (f Files) Drop(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &amber.Error{Op: "remove text", Kind: amber.KindInternal, ID: path, Err: err}
	}
	return nil
}

// Editor implements [Desk]: $VISUAL, $EDITOR, else an editor that most systems have.
func (f Files) Editor(path string) (*exec.Cmd, error) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		line := f.Getenv(name)
		if strings.TrimSpace(line) == "" {
			continue
		}
		args, err := splitWords(line)
		if err != nil || len(args) == 0 {
			return nil, amber.Errorf(amber.KindInvalid, "find editor", "$"+name, "%.60q is not a command line", line)
		}
		return exec.Command(args[0], append(args[1:], path)...), nil
	}
	usual := []string{"sensible-editor", "nano", "vim", "vi"}
	if runtime.GOOS == "windows" {
		usual = []string{"notepad"}
	}
	for _, name := range usual {
		if found, err := f.LookPath(name); err == nil {
			return exec.Command(found, path), nil
		}
	}
	return nil, amber.Errorf(amber.KindNotFound, "find editor", "", "neither $VISUAL nor $EDITOR is set, and none of %s is installed", strings.Join(usual, ", ")).
		WithHint("export EDITOR=nano")
}
