package gitobj

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// The first line of a git pack says which hash its ids are of: a version 2 has no other than SHA-1.
const (
	gitPackSHA1   = "# v2 git bundle\n"
	gitPackSHA256 = "# v3 git bundle\n@object-format=sha256\n"
	gitPackHead   = "HEAD"
)

// ErrEmptyHistory is returned by [WriteGitPack] when the refs name nothing: git has no git pack without objects. The caller
// goes without one.
var ErrEmptyHistory = errors.New("the repository has no commit yet")

// packOptions fix everything that the bytes of a pack depend on but the objects and the git program: deltas and compressed
// data that lie in the repository are not taken over, and one thread looks for new ones.
var packOptions = []string{
	"--stdout", "--revs", "--quiet", "--delta-base-offset", "--no-reuse-delta", "--no-reuse-object",
	"--threads=1", "--window=4", "--depth=50", "--compression=1",
}

// packSettings bound the memory that git packs with, and keep it from believing a list of what is reachable.
var packSettings = []string{
	"pack.useBitmaps=false", "pack.windowMemory=64m", "pack.deltaCacheSize=32m", "core.bigFileThreshold=16m", "pack.packSizeLimit=0",
}

// WriteGitPack writes a git pack of all that refs name, HEAD among it, into the new file: git clone reads it. It uses
// only the objects of the repository o, which need not be trusted, and takes the refs as they are given. The same
// objects and refs give the same bytes, however the repository keeps them, as long as the git program is the same one.
//
// The objects are not hashed again: [ReadGitPack] does. Nothing is synced; what is refused leaves no file. Errors:
// [ErrEmptyHistory], of kind not_found; conflict when there is a file; invalid for refs that contradict each other;
// damaged when an object is missing or cannot be read; unsupported as those of [Objects]; unreachable when ctx ends or git hangs.
func WriteGitPack(ctx context.Context, o Options, refs Refs, file string) error {
	const op = "write git pack"
	if err := refs.Check(); err != nil {
		return amber.Errorf(amber.KindInvalid, op, "", "%w", err)
	}
	tips := refs.tips()
	if len(tips) == 0 {
		return &amber.Error{Op: op, Kind: amber.KindNotFound, Err: ErrEmptyHistory}
	}
	o, git, err := o.withDefaults()
	if err != nil {
		return wrap(op, err)
	}
	v, err := newView(o, git, len(tips[0]))
	if err != nil {
		return wrap(op, err)
	}
	defer v.close()
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	return wrap(op, writeGitPack(ctx, v, refs, file))
}

func writeGitPack(ctx context.Context, v *view, refs Refs, file string) error {
	f, err := fsx.OS().OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if errors.Is(err, fs.ErrExist) {
		return amberError(amber.KindConflict, "", err)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(gitPackHeader(refs))
	if err == nil {
		err = v.pack(ctx, refs.tips(), f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

// pack writes a pack of all that the objects tips need.
func (v *view) pack(ctx context.Context, tips []string, to io.Writer) error {
	c := v.command(append([]string{"pack-objects"}, packOptions...)...)
	c.Extra = append(c.Extra, packSettings...)
	return v.pipe(ctx, c, strings.NewReader(strings.Join(tips, "\n")+"\n"), to)
}

// gitPackHeader is what a git pack says of its refs.
func gitPackHeader(refs Refs) []byte {
	var b bytes.Buffer
	if len(refs.tips()[0]) == 64 {
		b.WriteString(gitPackSHA256)
	} else {
		b.WriteString(gitPackSHA1)
	}
	for _, ref := range packedRefs(refs) {
		fmt.Fprintf(&b, "%s %s\n", ref.OID, ref.Name)
	}
	b.WriteString("\n")
	return b.Bytes()
}

// packedRefs are the refs in a git pack: a HEAD that has a commit, then the others by name.
func packedRefs(refs Refs) []Ref {
	list := slices.SortedFunc(slices.Values(refs.Refs), func(x, y Ref) int { return strings.Compare(x.Name, y.Name) })
	if refs.OID != "" {
		list = slices.Insert(list, 0, Ref{Name: gitPackHead, OID: refs.OID})
	}
	return list
}
