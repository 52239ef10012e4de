package gitobj

import (
	"context"
	"errors"
	"path/filepath"
)

// BuildFromGitPack does what [Build] does with the objects of a git pack, whose refs must be refs: git reads its pack
// once, straight into the new repository, and checks the form of every object and that each it names is there. Objects
// that no ref needs stay in the pack. The file may be anybody's. Errors: those of Build and [ReadGitPack].
func BuildFromGitPack(ctx context.Context, o Options, dir, file string, refs Refs) error {
	return makeRepository(o, dir, refs, func(b *builder) error { return b.fromGitPack(ctx, file) })
}

func (b *builder) fromGitPack(ctx context.Context, file string) error {
	f, err := openGitPack(file, b.refs)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := writeSkeleton(b.fsys, b.gitDir, skeleton{head: b.head(), oidLen: b.oidLen()}); err != nil {
		return err
	}
	v := &view{dir: b.gitDir, git: b.git}
	if err := v.unpack(ctx, f); err != nil {
		return err
	}
	folder := OpenFolder(b.fsys, b.gitDir)
	types, err := folder.types(b.refs.tips())
	err = errors.Join(err, folder.Close())
	if err != nil {
		return err
	}
	if err := b.checkTips(types); err != nil {
		return err
	}
	if err := b.private(filepath.Join(b.gitDir, "objects", "pack")); err != nil {
		return err
	}
	return b.show(ctx)
}
