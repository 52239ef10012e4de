package gitobj

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitrun"
)

// RawRefs returns the branches and tags of a repository that came as the plain files of a .git folder: HEAD, refs/heads, refs/tags and
// packed-refs. The folders of the refs need not be there, since a tool that copies files may leave out empty ones; locks
// are none. It is false when there is no HEAD, or one of zeros. Errors: those of [ReadRefs].
func RawRefs(fsys fsx.FS, gitDir string) (Refs, bool, error) {
	const op = "read refs"
	text, err := (&refReader{fsys: fsys, gitDir: gitDir}).read("HEAD", maxHead)
	if err != nil {
		return Refs{}, false, wrap(op, err)
	}
	if strings.Trim(string(text), "0 \t\r\n") == "" {
		return Refs{}, false, nil
	}
	refs, found, err := readRefs(fsys, gitDir)
	return refs, found, wrap(op, err)
}

// RawObjects calls fn with every object that refs need of the files of a .git folder, o.GitDir, as [Objects] does, after they were
// found to be a whole repository, as [Build] finds it. Git never sees that folder: loose objects and packs are copied into a
// repository of our own below o.Temp, and nothing else is. Settings, hooks, alternates, grafts, replacements, the index and its
// lock stay where they are; an index of a pack is made anew.
//
// Errors: those of [Build], and damaged for a pack that git does not read; those of fn, as they are.
func RawObjects(ctx context.Context, o Options, refs Refs, fn func(oid string, raw []byte) error) error {
	const op = "read git objects"
	if err := refs.Check(); err != nil {
		return amber.Errorf(amber.KindInvalid, op, "", "%w", err)
	}
	if len(refs.tips()) == 0 {
		return nil
	}
	o, git, err := o.withDefaults()
	if err != nil {
		return wrap(op, err)
	}
	dir, err := os.MkdirTemp(o.Temp, "amber-git-")
	if err != nil {
		return wrap(op, err)
	}
	defer os.RemoveAll(dir)
	if err := rebuild(ctx, o, git, dir, refs); err != nil {
		return wrap(op, err)
	}
	whole := &view{dir: filepath.Join(dir, ".git"), git: git}
	return handOut(ctx, op, whole, refs, fn)
}

// rebuild makes a repository in dir/.git of what refs need of the files of another one.
func rebuild(ctx context.Context, o Options, git gitrun.Program, dir string, refs Refs) (err error) {
	v, err := newPrivate(dir, git, len(refs.tips()[0]))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	raw := rawObjects{fsys: o.FS, dir: filepath.Join(o.GitDir, "objects"), view: v}
	if err := raw.copy(ctx, len(refs.tips()[0])); err != nil {
		return err
	}
	o.FS = fsx.OS()
	return Build(ctx, o, dir, refs, func(yield func(oid string, raw []byte) error) error {
		return handOut(ctx, "read git objects", v, refs, yield)
	})
}
