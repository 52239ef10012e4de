package gitobj

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitrun"
)

// MaxObjectBytes bounds one object of a repository.
const MaxObjectBytes = 256 << 20

// Objects calls fn with every object that want needs and have does not, each once: its id, and raw, what git hashes,
// "commit 123\x00" and the content. fn owns raw. The refs are taken as they are given, not read again. Objects that have needs are taken to be
// at hand already; refs of it that the repository does not know are passed over.
//
// The repository is only read. It need not be Amber's: nothing of it but its objects has any effect, and each of those
// is hashed. No program is started when have knows all that want names. Errors: damaged, naming the object, when one is
// missing or is not what its id says; unsupported when there is no git, for a repository without a part of its history (a
// shallow or partial clone) and for one that borrows objects of another; quota for an object over [MaxObjectBytes];
// unreachable when ctx ends or git hangs; those of fn, as they are.
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
	o, git, err := o.withDefaults()
	if err != nil {
		return wrap(op, "", err)
	}
	v, err := newView(o, git, len(missing[0]))
	if err != nil {
		return wrap(op, "", err)
	}
	defer v.close()
	w := &objectWalk{view: v, loose: looseReader{fsys: o.FS, dir: filepath.Join(o.GitDir, "objects")}, fn: fn}
	err = w.run(ctx, missing, known)
	if mine, ok := errors.AsType[*callbackError](err); ok {
		return mine.err
	}
	if amber.KindOf(err) == amber.KindDamaged && isPartial(o.FS, o.GitDir) {
		err = unsupportedRepo("the repository is a partial clone: objects are missing")
	}
	return wrap(op, "", err)
}

// callbackError carries an error of the caller past those of git, which follow from it.
type callbackError struct{ err error }

func (e *callbackError) Error() string { return e.err.Error() }

// objectWalk lists the objects with git rev-list, reads those that lie in files of their own and has git cat-file read the
// others. Whatever is wrong with such a file is left to git to say: it may have the object elsewhere too.
type objectWalk struct {
	view  *view
	loose looseReader
	fn    func(oid string, raw []byte) error
	beat  func() // is called whenever git has said something
}

func (w *objectWalk) run(ctx context.Context, want, have []string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := w.view.git.Timeout
	silence := time.AfterFunc(limit, func() {
		cancel(fmt.Errorf("git was silent for %s: %w", limit, context.DeadlineExceeded))
	})
	defer silence.Stop()
	w.beat = func() { silence.Reset(limit) }

	have, err := w.present(ctx, want, have)
	if err != nil {
		return err
	}
	packed, err := newIDFile(w.view.dir)
	if err != nil {
		return err
	}
	defer packed.close()
	list := w.view.command("rev-list", "--objects", "--no-object-names", "--stdin")
	err = w.pipe(ctx, list, revisions(want, have), func(r *bufio.Reader) error {
		return w.readList(r, packed)
	})
	if err != nil || packed.empty() {
		return err
	}
	rest, err := packed.reader()
	if err != nil {
		return err
	}
	return w.pipe(ctx, w.view.command("cat-file", "--batch", "--buffer"), rest, w.readBatch)
}

// present returns those of have that the repository knows. The error is of kind damaged when it lacks one of want.
func (w *objectWalk) present(ctx context.Context, want, have []string) ([]string, error) {
	known := map[string]bool{}
	var ask []string
	for _, oid := range slices.Concat(want, have) {
		if known[oid] = w.loose.has(oid); !known[oid] && len(oid) == len(want[0]) {
			ask = append(ask, oid)
		}
	}
	err := w.check(ctx, ask, known)
	if err != nil {
		return nil, err
	}
	for _, oid := range want {
		if !known[oid] {
			return nil, missingObject(oid)
		}
	}
	return slices.DeleteFunc(have, func(oid string) bool { return !known[oid] }), nil
}

// check asks git which objects there are.
func (w *objectWalk) check(ctx context.Context, oids []string, known map[string]bool) error {
	if len(oids) == 0 {
		return nil
	}
	stdin := strings.NewReader(strings.Join(oids, "\n") + "\n")
	return w.pipe(ctx, w.view.command("cat-file", "--batch-check", "--buffer"), stdin, func(r *bufio.Reader) error {
		return lines(r, func(line string) error {
			w.beat()
			if oid, rest, _ := strings.Cut(line, " "); rest != "missing" && isOID(oid) {
				known[oid] = true
			}
			return nil
		})
	})
}

// readList reads what git rev-list lists.
func (w *objectWalk) readList(r *bufio.Reader, packed *idFile) error {
	return lines(r, func(oid string) error {
		w.beat()
		if !isOID(oid) {
			return errors.New("git rev-list answers in an unknown form")
		}
		raw, ok := w.loose.read(oid)
		if !ok {
			return packed.add(oid)
		}
		return w.hand(oid, raw)
	})
}

// hand hands an object to the caller, who may take any time.
func (w *objectWalk) hand(oid string, raw []byte) error {
	defer w.beat()
	if err := w.fn(oid, raw); err != nil {
		return &callbackError{err}
	}
	return nil
}

func revisions(want, have []string) io.Reader {
	var b bytes.Buffer
	for _, oid := range want {
		b.WriteString(oid + "\n")
	}
	for _, oid := range have {
		b.WriteString("^" + oid + "\n")
	}
	return &b
}

// errCutOff is wrapped when an answer ends in the middle.
var errCutOff = errors.New("git was cut off")

// pipe runs a git and has read read what it answers, to the end.
func (w *objectWalk) pipe(ctx context.Context, c gitrun.Call, stdin io.Reader, read func(*bufio.Reader) error) error {
	cmd, complaint := w.view.git.Exec(ctx, c), &gitrun.Complaint{}
	cmd.Stdin, cmd.Stderr = stdin, complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return w.view.git.Command(c).NotStarted(err)
	}
	said := read(bufio.NewReaderSize(out, 256<<10))
	out.Close() // which ends a git that is still writing
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case said != nil && !errors.Is(said, errCutOff):
		return said // what git says about it follows from it
	case err == nil:
		return said
	case ctx.Err() != nil:
		err = fmt.Errorf("interrupted: %w", context.Cause(ctx))
	case errors.As(err, &exit) && exit.Exited():
		return amberError(amber.KindDamaged, "git "+c.Args[0], blame(complaint.String(), err), "")
	}
	return amberError(amber.KindOf(err), "git "+c.Args[0], err, "")
}

// lines calls fn with each line.
func lines(r *bufio.Reader, fn func(line string) error) error {
	for {
		line, err := r.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errCutOff, err)
		}
		if err := fn(string(line[:len(line)-1])); err != nil {
			return err
		}
	}
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

// readBatch reads what git cat-file --batch answers: "id type size", the content and a line end, or "id missing".
func (w *objectWalk) readBatch(r *bufio.Reader) error {
	return lines(r, func(line string) error {
		w.beat()
		oid, rest, _ := strings.Cut(line, " ")
		if rest == "missing" {
			return missingObject(oid)
		}
		kind, digits, _ := strings.Cut(rest, " ")
		size, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || !isOID(oid) {
			return errors.New("git cat-file answers in an unknown form")
		}
		raw, err := readObject(r, oid, kind, size)
		if err != nil {
			return err
		}
		if err := checkOID(oid, raw); err != nil {
			return err
		}
		return w.hand(oid, raw)
	})
}

func readObject(r *bufio.Reader, oid, kind string, size int64) ([]byte, error) {
	if size < 0 || size > MaxObjectBytes {
		return nil, amberError(amber.KindQuota, "", fmt.Errorf("the object %s has more than %d bytes", oid, MaxObjectBytes), "")
	}
	header := kind + " " + strconv.FormatInt(size, 10) + "\x00"
	raw := make([]byte, len(header)+int(size)+1) // and the line end
	copy(raw, header)
	if _, err := io.ReadFull(r, raw[len(header):]); err != nil {
		return nil, fmt.Errorf("%w: %w", errCutOff, err)
	}
	return raw[:len(raw)-1], nil
}

func missingObject(oid string) error {
	return amberError(amber.KindDamaged, "", fmt.Errorf("the object %s is missing", clip(oid)), "")
}
