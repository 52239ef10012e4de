package gitobj

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitrun"
)

// harmless are flaws in old commits that git index-pack would refuse and that do no harm: people have them in their
// history, and a restore must bring that history back.
const harmless = "zeroPaddedFilemode=ignore,missingSpaceBeforeDate=ignore,missingSpaceBeforeEmail=ignore," +
	"missingEmail=ignore,missingNameBeforeEmail=ignore,badTimezone=ignore,zeroPaddedDate=ignore,badDate=ignore"

// ObjectSource hands out the objects of a repository: it calls yield with each, and returns the error yield
// returns. The bytes may be used again after yield returned.
type ObjectSource func(yield func(oid string, raw []byte) error) error

// Build makes a new repository in dir/.git: all objects in one pack, the refs, and an index that says what HEAD says.
// The folder dir exists and has no .git; no file of the work tree is written, whatever the objects say. The settings are
// those of a repository that Amber makes; nothing of the old one but objects and refs is brought back.
//
// Neither objects nor refs are trusted: each object is hashed, git checks its form and that every object it names is
// there, and each ref names an object that came. A refused repository leaves no .git. Build syncs nothing: the caller
// syncs all of dir, then shows it. Errors: damaged for objects and refs that cannot be a repository; invalid for refs
// that contradict each other; conflict when there is a .git; unsupported when there is no git; quota; unreachable when
// ctx ends or git hangs; those of objects.
func Build(ctx context.Context, o Options, dir string, refs Refs, objects ObjectSource) error {
	return makeRepository(o, dir, refs, func(b *builder) error { return b.build(ctx, objects) })
}

// makeRepository fills the .git of a folder that has none. A repository that
// could not be made leaves nothing.
func makeRepository(o Options, dir string, refs Refs, fill func(b *builder) error) error {
	const op = "build repository"
	if err := refs.Check(); err != nil {
		return amber.Errorf(amber.KindInvalid, op, "", "%w", err)
	}
	o, git, err := o.withDefaults()
	if err != nil {
		return wrap(op, err)
	}
	b := &builder{fsys: o.FS, git: git, dir: dir, gitDir: filepath.Join(dir, ".git"), refs: refs}
	if _, err := o.FS.Lstat(b.gitDir); err == nil {
		return amber.Errorf(amber.KindConflict, op, "", "the folder has a repository already")
	}
	if err := fill(b); err != nil {
		return wrap(op, errors.Join(err, fsx.RemoveAll(o.FS, b.gitDir)))
	}
	return nil
}

// Connected does what [Build] does, in a folder of its own below temp that is gone afterwards: refs and objects are a
// whole repository when it returns nil. Errors: those of Build.
func Connected(ctx context.Context, o Options, temp string, refs Refs, objects ObjectSource) (err error) {
	dir, err := os.MkdirTemp(temp, "amber-git-")
	if err != nil {
		return wrap("check repository", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o.FS = fsx.OS()
	return Build(ctx, o, dir, refs, objects)
}

type builder struct {
	fsys        fsx.FS
	git         gitrun.Program
	dir, gitDir string
	refs        Refs
}

func (b *builder) build(ctx context.Context, objects ObjectSource) error {
	if err := writeSkeleton(b.fsys, b.gitDir, skeleton{head: b.head(), oidLen: b.oidLen()}); err != nil {
		return err
	}
	types, err := b.pack(ctx, objects)
	if err != nil {
		return err
	}
	if err := b.checkTips(types); err != nil {
		return err
	}
	return b.show(ctx)
}

// show writes the refs, and an index that says what HEAD says.
func (b *builder) show(ctx context.Context) error {
	if err := b.writeRefs(); err != nil || b.refs.OID == "" {
		return err
	}
	_, err := b.run(ctx, "read-tree", b.refs.OID)
	if errors.Is(err, gitrun.ErrExit) {
		err = amberError(amber.KindDamaged, "fill the index", err)
	}
	return err
}

// head is the content of HEAD.
func (b *builder) head() string {
	if isOID(b.refs.Head) {
		return b.refs.Head + "\n"
	}
	return "ref: " + b.refs.Head + "\n"
}

func (b *builder) oidLen() int {
	if tips := b.refs.tips(); len(tips) > 0 {
		return len(tips[0])
	}
	return len(ZeroOID)
}

// pack stores the objects and has git check them. It returns the types of those that refs name.
func (b *builder) pack(ctx context.Context, objects ObjectSource) (map[string]string, error) {
	types := map[string]string{}
	for _, oid := range b.refs.tips() {
		types[oid] = ""
	}
	p, err := newPack(b.fsys, filepath.Join(b.gitDir, "objects", "pack"), b.oidLen())
	if err != nil {
		return nil, err
	}
	err = objects(func(oid string, raw []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		kind, err := p.add(oid, raw)
		if _, isTip := types[oid]; isTip {
			types[oid] = kind
		}
		return err
	})
	if err != nil || p.count == 0 {
		return types, errors.Join(err, p.abort())
	}
	path, err := p.finish()
	if err != nil {
		return nil, err
	}
	_, err = b.run(ctx, "index-pack", "--strict="+harmless, path)
	if errors.Is(err, gitrun.ErrExit) {
		err = amberError(amber.KindDamaged, "check the objects", err)
	}
	if err != nil {
		return nil, err
	}
	return types, b.private(filepath.Dir(path))
}

// private keeps what git has put into a folder from others, who may read it when git chooses.
func (b *builder) private(dir string) error {
	entries, err := b.fsys.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.Chmod(filepath.Join(dir, e.Name()), filePerm&^0o200))
	}
	return err
}

// checkTips checks that what the refs name is there. Git has checked that what these objects name is.
func (b *builder) checkTips(types map[string]string) error {
	for oid, kind := range types {
		if kind == "" {
			return missingObject(oid)
		}
	}
	for _, ref := range b.refs.Refs {
		if strings.HasPrefix(ref.Name, headsPrefix) && types[ref.OID] != typeCommit {
			return badObject(ref.OID, "is not a commit, and a branch needs a commit")
		}
	}
	if b.refs.OID != "" && types[b.refs.OID] != typeCommit {
		return badObject(b.refs.OID, "is not a commit, and HEAD needs a commit")
	}
	return nil
}

// writeRefs writes all refs into one file: no name of a ref becomes one of a file.
func (b *builder) writeRefs() error {
	if len(b.refs.Refs) == 0 {
		return nil
	}
	text := []byte("# pack-refs with:\n")
	for _, ref := range slices.SortedFunc(slices.Values(b.refs.Refs), func(x, y Ref) int { return strings.Compare(x.Name, y.Name) }) {
		text = fmt.Appendf(text, "%s %s\n", ref.OID, ref.Name)
	}
	return writeNew(b.fsys, filepath.Join(b.gitDir, "packed-refs"), text)
}

// run runs git in the new repository.
func (b *builder) run(ctx context.Context, args ...string) ([]byte, error) {
	env := append(gitrun.BareEnv(), "GIT_DIR="+b.gitDir, "GIT_WORK_TREE="+b.dir, "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1")
	extra := []string{"core.fsync=none", "core.fsyncObjectFiles=false"} // all is synced at once, by the caller
	return b.git.Run(ctx, gitrun.Call{Args: args, Dir: b.dir, Env: env, Extra: extra})
}
