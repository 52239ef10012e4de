package gitobj

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitrun"
)

// maxGitPackLine bounds a line of the header of a git pack.
const maxGitPackLine = 64 + 1 + maxRefName + 1

// ReadGitPack calls fn with every object that the refs of a git pack need, as [Objects] does, after git has checked their form and that
// none is missing. The file may be anybody's: its refs must be those of want, a HEAD that has a commit among them, and its objects
// are unpacked in a repository of our own below o.Temp, which is gone afterwards. Objects that nothing needs are passed over.
//
// Errors: not_found without the file; damaged for one that is no whole git pack of these refs; unsupported for a git pack of a newer
// form, and when there is no git; invalid for refs that contradict each other; quota for an object over [MaxObjectBytes];
// unreachable when ctx ends or git hangs; those of fn, as they are.
func ReadGitPack(ctx context.Context, o Options, file string, want Refs, fn func(oid string, raw []byte) error) error {
	const op = "read git pack"
	if err := want.Check(); err != nil {
		return amber.Errorf(amber.KindInvalid, op, "", "%w", err)
	}
	if len(want.tips()) == 0 {
		return amber.Errorf(amber.KindInvalid, op, "", "the refs are empty: a git pack holds at least one commit")
	}
	o, git, err := o.withDefaults()
	if err != nil {
		return wrap(op, err)
	}
	f, err := openGitPack(file, want)
	if err != nil {
		return wrap(op, err)
	}
	defer f.Close()
	v, err := newPrivate(o.Temp, git, len(want.tips()[0]))
	if err != nil {
		return wrap(op, err)
	}
	defer v.close()
	if err := v.unpack(ctx, f); err != nil {
		return wrap(op, err)
	}
	return handOut(ctx, op, v, want, fn)
}

// openGitPack opens a file at the pack of a git pack of the refs want.
func openGitPack(file string, want Refs) (*os.File, error) {
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, amberError(amber.KindNotFound, "", err)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, badGitPack("not a regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	size, err := checkGitPackHeader(bufio.NewReaderSize(f, 16<<10), want)
	if err == nil {
		_, err = f.Seek(size, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// checkGitPackHeader checks that a git pack is of the refs want and needs nothing else, and returns the size of its header.
func checkGitPackHeader(r *bufio.Reader, want Refs) (size int64, err error) {
	expected := packedRefs(want)
	format, found := 40, make([]Ref, 0, len(expected))
	for n := 0; ; n++ {
		line, err := gitPackLine(r)
		if err != nil {
			return 0, err
		}
		size += int64(len(line)) + 1
		switch {
		case n == 0 && (line == "# v2 git bundle" || line == "# v3 git bundle"):
		case n == 0 && strings.HasPrefix(line, "# v") && strings.HasSuffix(line, " git bundle"):
			return 0, unsupportedRepo("the git pack has a newer version")
		case n == 0:
			return 0, badGitPack("the first line is not that of a git pack")
		case strings.HasPrefix(line, "@"):
			if format, err = gitPackFormat(line); err != nil {
				return 0, err
			}
		case line == "":
			return size, sameRefs(found, expected, format)
		case len(found) == len(expected):
			return 0, badGitPack("more refs than expected")
		default:
			ref, err := gitPackRef(line)
			if err != nil {
				return 0, err
			}
			found = append(found, ref)
		}
	}
}

// gitPackLine returns a line of the header without its end.
func gitPackLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull) || len(line) > maxGitPackLine:
		return "", badGitPack("a line of the header is too long")
	case err == io.EOF:
		return "", badGitPack("the header is cut off")
	case err != nil:
		return "", err
	}
	return string(line[:len(line)-1]), nil
}

// gitPackFormat returns how long the ids are that a capability speaks of.
func gitPackFormat(line string) (int, error) {
	switch line {
	case "@object-format=sha1":
		return 40, nil
	case "@object-format=sha256":
		return 64, nil
	}
	return 0, unsupportedRepo(fmt.Sprintf("the git pack asks for %q", clip.Name(line[1:])))
}

func gitPackRef(line string) (Ref, error) {
	if strings.HasPrefix(line, "-") {
		return Ref{}, badGitPack("pack needs commits that it does not contain")
	}
	oid, name, found := strings.Cut(line, " ")
	if !found || !isOID(oid) {
		return Ref{}, badGitPack("header has a line of an unknown form")
	}
	return Ref{Name: name, OID: oid}, nil
}

// sameRefs compares the refs of a git pack with those it should have, which are sorted and correct.
func sameRefs(found, expected []Ref, format int) error {
	slices.SortFunc(found, func(x, y Ref) int { return strings.Compare(x.Name, y.Name) })
	if !slices.Equal(found, expected) {
		return badGitPack("refs differ from the recorded refs")
	}
	if format != len(expected[0].OID) {
		return badGitPack("ids use another hash than the refs")
	}
	return nil
}

func badGitPack(why string) error {
	return amberError(amber.KindDamaged, "", errors.New("not a usable git pack: "+why))
}

// newPrivate makes a view that has no objects yet: those that git is handed are its own.
func newPrivate(temp string, git gitrun.Program, oidLen int) (*view, error) {
	dir, err := os.MkdirTemp(temp, "amber-git-")
	if err != nil {
		return nil, err
	}
	v := &view{dir: dir, git: git}
	if err := writeSkeleton(fsx.OS(), dir, skeleton{head: HeadContent, oidLen: oidLen, bare: true}); err != nil {
		return nil, errors.Join(err, v.close())
	}
	return v, nil
}

// unpack stores a pack and has git check it: the form of each object, that it is whole, and that nothing follows it.
func (v *view) unpack(ctx context.Context, pack *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, v.git.Timeout)
	defer cancel()
	c := v.indexPack("--stdin", "--strict="+harmless)
	return v.pipe(ctx, c, pack, io.Discard)
}

// indexPack is the command that reads a pack of an unknown writer. A few bytes of a pack can claim to be an object of
// any size: git gives up when one does not fit. Nothing is synced, because nothing is kept.
func (v *view) indexPack(args ...string) gitrun.Call {
	c := v.command(append([]string{"index-pack"}, args...)...)
	c.Env = append(c.Env, "GIT_ALLOC_LIMIT=1g")
	c.Extra = append(c.Extra, "core.fsync=none", "core.fsyncObjectFiles=false", "core.bigFileThreshold=16m")
	return c
}

// handOut calls fn with what refs need of a repository of our own, once they are known to be refs of it.
func handOut(ctx context.Context, op string, v *view, refs Refs, fn func(oid string, raw []byte) error) error {
	folder := OpenFolder(fsx.OS(), v.dir)
	defer folder.Close()
	types, err := folder.types(refs.tips())
	if err == nil {
		err = (&builder{refs: refs}).checkTips(types)
	}
	if err == nil {
		err = folder.walk(ctx, fn).run(refs.tips(), nil)
	}
	if mine, ok := errors.AsType[*callbackError](err); ok {
		return mine.err
	}
	return wrap(op, err)
}

// types returns the types of objects; "" is that of one that is not there.
func (f *Folder) types(oids []string) (map[string]string, error) {
	types := map[string]string{}
	for _, oid := range oids {
		raw, err := f.read(oid)
		if err == nil {
			types[oid], _, err = splitRaw(oid, raw)
		}
		if err != nil && !errors.Is(err, errNoObject) {
			return nil, err
		}
		types[oid] += ""
	}
	return types, nil
}
