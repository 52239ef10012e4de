package githook

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// maxHook bounds a hook that is edited.
const maxHook = 1 << 20

// Install says what the hooks do.
type Install struct {
	Binary   string   // the absolute path of amber
	Globals  []string // flags before the verb, like --home
	Flags    []string // flags of both verbs, like --format
	Folder   string   // relative to the top, with slashes
	Upstream string   // the branch that post-merge imports from; its whole name
	// PreCommit also exports before each commit, with ExportFlags.
	PreCommit   bool
	ExportFlags []string
}

// check refuses what cannot be put into a line of a script.
func (o Install) check() error {
	const op = "install hook"
	for _, s := range slices.Concat([]string{o.Binary, o.Folder, o.Upstream}, o.Globals, o.Flags, o.ExportFlags) {
		if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
			return amber.Errorf(amber.KindInvalid, op, "", "%q cannot be written into a shell script", s)
		}
	}
	switch {
	case !filepath.IsAbs(o.Binary):
		return amber.Errorf(amber.KindInvalid, op, "", "the path of the program is not absolute")
	case o.Folder == "" || !filepath.IsLocal(filepath.FromSlash(o.Folder)):
		return amber.Errorf(amber.KindInvalid, op, "", "the folder is not in the work tree")
	case o.Upstream == "":
		return amber.Errorf(amber.KindInvalid, op, "", "the upstream branch is missing")
	}
	return checkRef(o.Upstream)
}

// Action is what became of a hook.
type Action string

// The actions.
const (
	Created   Action = "created"
	Changed   Action = "changed"
	Removed   Action = "removed" // the file
	Unchanged Action = "unchanged"
)

// Change is what was done to one hook.
type Change struct {
	Hook   string `json:"hook"`
	Path   string `json:"path"`
	Action Action `json:"action"`
}

// edit is a change that is not made yet.
type edit struct {
	Change
	there         bool // the file
	before, after []byte
	mode          fs.FileMode
}

// Install makes the hooks do what o says: pre-commit, too, where o wants that, and no line of ours in it where o does
// not. A hook that is there keeps its own lines. Installing twice changes nothing. Install writes nothing when one of
// the hooks cannot be changed. Errors: invalid; refused for a hook that is not an executable shell script, and when
// other repositories use the same hooks; conflict when a person or program changed our lines before, or the file
// meanwhile.
func (w *Worktree) Install(ctx context.Context, o Install) ([]Change, error) {
	o.Binary = filepath.ToSlash(o.Binary)
	if err := o.check(); err != nil {
		return nil, err
	}
	if !isBelow(w.hooks, w.common) && !isBelow(w.hooks, w.top) {
		return nil, amber.Errorf(amber.KindRefused, "install hook", w.hooks, "core.hooksPath shares this folder of hooks with other repositories").
			WithHint("git config core.hooksPath " + quote(filepath.ToSlash(filepath.Join(w.common, "hooks"))) + " gives this repository its own hooks")
	}
	merge, err := w.add(PostMerge, o)
	if err != nil {
		return nil, err
	}
	commit, err := w.cut(PreCommit)
	if o.PreCommit {
		commit, err = w.add(PreCommit, o)
	}
	if err != nil {
		return nil, err
	}
	return w.apply(ctx, merge, commit)
}

// Remove takes our lines out of the hooks, and removes a file that held nothing else. Errors: conflict when a person or
// program changed our lines before, or the file meanwhile.
func (w *Worktree) Remove(ctx context.Context) ([]Change, error) {
	var edits []edit
	for _, hook := range []string{PostMerge, PreCommit} {
		e, err := w.cut(hook)
		if err != nil {
			return nil, err
		}
		edits = append(edits, e)
	}
	return w.apply(ctx, edits...)
}

// State tells about one hook.
type State struct {
	Hook      string `json:"hook"`
	Path      string `json:"path"`
	Installed bool   `json:"installed"`
	Lines     string `json:"lines,omitempty"` // ours
}

// Status tells which hooks call Amber.
func (w *Worktree) Status(context.Context) ([]State, error) {
	var all []State
	for _, hook := range []string{PostMerge, PreCommit} {
		e, err := w.read(hook)
		if err != nil {
			return nil, err
		}
		s := State{Hook: hook, Path: e.Path}
		from, to, ok, err := span(e.before)
		if err != nil {
			return nil, at(err, e.Path)
		}
		if s.Installed = ok; ok {
			s.Lines = string(e.before[from:to])
		}
		all = append(all, s)
	}
	return all, nil
}

// read reads a hook as it is; one that is not there, or is no file of ours to
// read, has no text.
func (w *Worktree) read(hook string) (edit, error) {
	e := edit{Change: Change{Hook: hook, Path: filepath.Join(w.hooks, hook), Action: Unchanged}}
	info, err := w.fs.Lstat(e.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err == nil && info.Mode().IsRegular() {
		e.before, err = fsx.ReadFile(w.fs, e.Path, maxHook)
		if errors.Is(err, fsx.ErrTooLarge) {
			e.before, err = []byte{}, nil
		}
		e.after = e.before
	}
	if err != nil {
		return e, diskerr.Given("read hook", e.Path, err)
	}
	e.there, e.mode = true, info.Mode()
	return e, nil
}

func (w *Worktree) add(hook string, o Install) (edit, error) {
	e, err := w.read(hook)
	if err != nil {
		return e, err
	}
	block := o.block(hook)
	if !e.there {
		e.Action = Created
		e.after = append([]byte(shebang+"\n"+madeMark+"\n"), block...)
		return e, nil
	}
	why := ""
	switch {
	case !e.mode.IsRegular():
		why = "want a regular file"
	case !isScript(e.before):
		why = "the hook is not a shell script"
	case e.mode&0o111 == 0 && runtime.GOOS != "windows":
		why = "the hook is not executable, so git does not run it"
	}
	if why != "" {
		err := amber.Errorf(amber.KindRefused, "install hook", e.Path, "%s", why).
			WithHint("add this command to the hook yourself: amber sync import --dir=" + quote(o.Folder) + " --upstream=" + quote(o.Upstream))
		if hook == PreCommit {
			err.Hint = "add this command to the hook yourself: amber sync export --dir=" + quote(o.Folder) + " && git add -- " + quote(o.Folder)
		}
		return e, err
	}
	if e.after, err = with(e.before, block); err != nil {
		return e, at(err, e.Path)
	}
	if !bytes.Equal(e.before, e.after) {
		e.Action = Changed
	}
	return e, nil
}

func (w *Worktree) cut(hook string) (edit, error) {
	e, err := w.read(hook)
	if err != nil {
		return e, err
	}
	rest, ok, err := without(e.before)
	if err != nil {
		return e, at(err, e.Path)
	}
	if ok {
		e.Action, e.after = Changed, rest
		if rest == nil {
			e.Action = Removed
		}
	}
	return e, nil
}

// apply makes the changes.
func (w *Worktree) apply(ctx context.Context, edits ...edit) ([]Change, error) {
	var done []Change
	for _, e := range edits {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		if err := w.write(e); err != nil {
			return done, err
		}
		done = append(done, e.Change)
	}
	return done, nil
}

func (w *Worktree) write(e edit) error {
	var err error
	switch e.Action {
	case Created:
		if err = fsx.MkdirAll(w.fs, w.hooks, 0o755); err == nil {
			err = fsx.CreateNew(w.fs, e.Path, 0o755, e.after)
		}
	case Changed, Removed:
		now, rerr := w.read(e.Hook)
		if rerr != nil {
			return rerr
		}
		if !bytes.Equal(now.before, e.before) {
			return amber.Errorf(amber.KindConflict, "write hook", e.Path, "the hook was changed while it was edited")
		}
		if e.Action == Changed {
			err = fsx.Replace(w.fs, e.Path, e.mode.Perm(), e.after)
		} else {
			err = fsx.RemoveAll(w.fs, e.Path)
		}
	}
	return diskerr.Given("write hook", e.Path, err)
}

// at names the file in an error of ours.
func at(err error, path string) error {
	if e, ok := errors.AsType[*amber.Error](err); ok {
		e.ID, e.Hint = path, "remove the lines between the markers in an editor"
	}
	return err
}
