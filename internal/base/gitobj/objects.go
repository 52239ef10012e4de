package gitobj

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/gitrun"
)

// MaxObjectBytes bounds one object of a repository.
const MaxObjectBytes = 256 << 20

// Objects calls fn with every object that want needs and have does not, each once: its id, and raw, what git hashes,
// "commit 123\x00" and the content. fn owns raw. The refs are taken as they are given, not read again. Objects that have needs are taken to be
// at hand already; refs of it that the repository does not know are passed over.
//
// The repository is only read. It need not be Amber's: nothing of it but its objects has any effect, and each of those
// is hashed. Where the clocks of commits were wrong, objects that have needs may come too. Errors: damaged, naming the object, when one is
// missing or is not what its id says; unsupported for a repository without a part of its history (a
// shallow or partial clone) and for one that borrows objects of another; quota for an object over [MaxObjectBytes];
// unreachable when ctx ends; those of fn, as they are.
func Objects(ctx context.Context, o Options, want, have Refs, fn func(oid string, raw []byte) error) error {
	const op = "read git objects"
	if err := want.Check(); err != nil {
		return amber.Errorf(amber.KindInvalid, op, "", "%w", err)
	}
	known := have.tips()
	missing := slices.DeleteFunc(want.tips(), func(oid string) bool {
		_, found := slices.BinarySearch(known, oid)
		return found
	})
	if len(missing) == 0 {
		return nil
	}
	o, _, err := o.withDefaults()
	if err == nil {
		err = checkWhole(o.FS, o.GitDir)
	}
	if err != nil {
		return wrap(op, err)
	}
	folder := OpenFolder(o.FS, o.GitDir)
	defer folder.Close()
	err = folder.walk(ctx, fn).run(missing, known)
	if mine, ok := errors.AsType[*callbackError](err); ok {
		return mine.err
	}
	if amber.KindOf(err) == amber.KindDamaged && isPartial(o.FS, o.GitDir) {
		err = unsupportedRepo("the repository is a partial clone: objects are missing")
	}
	return wrap(op, err)
}

// callbackError carries an error of the caller past those of git, which follow from it.
type callbackError struct{ err error }

func (e *callbackError) Error() string { return e.err.Error() }

// walk is a walk that begins with nothing known.
func (f *Folder) walk(ctx context.Context, fn func(oid string, raw []byte) error) *objectWalk {
	return &objectWalk{ctx: ctx, objects: f, fn: fn, known: map[string]bool{}, commits: map[string]*walkedCommit{}}
}

// pipe runs a git that reads from in and writes to out.
func (v *view) pipe(ctx context.Context, c gitrun.Call, in io.Reader, out io.Writer) error {
	cmd, complaint := v.git.Exec(ctx, c), &gitrun.Complaint{}
	to := &sink{Writer: out}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, to, complaint
	if err := cmd.Start(); err != nil {
		return v.git.Command(c).NotStarted(err)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case to.err != nil:
		return to.err // what git says about it follows from it
	case err == nil:
		return nil
	case ctx.Err() != nil:
		err = fmt.Errorf("interrupted: %w", context.Cause(ctx))
	case errors.As(err, &exit) && exit.Exited():
		return amberError(amber.KindDamaged, "git "+c.Args[0], blame(complaint.String(), err))
	}
	return amberError(amber.KindOf(err), "git "+c.Args[0], err)
}

// sink remembers why it could not be written to.
type sink struct {
	io.Writer
	err error
}

func (s *sink) Write(p []byte) (n int, err error) {
	n, err = s.Writer.Write(p)
	s.err = cmp.Or(s.err, err)
	return n, err
}

// inObjects matches the id of an object, also as the path of its file.
var inObjects = regexp.MustCompile(`\b[0-9a-f]{2}/?[0-9a-f]{38}(?:[0-9a-f]{24})?\b`)

// blame says which object made git give up.
func blame(stderr string, err error) error {
	why := gitrun.Reason(stderr, err)
	if found := inObjects.FindString(stderr); found != "" {
		return fmt.Errorf("%w: the object %s: %s", gitrun.ErrExit, strings.Replace(found, "/", "", 1), why)
	}
	return fmt.Errorf("%w: %s", gitrun.ErrExit, why)
}

func missingObject(oid string) error {
	return amberError(amber.KindDamaged, "", fmt.Errorf("the object %s is missing", clip.Name(oid)))
}
