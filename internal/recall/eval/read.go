package eval

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber"
)

// The bounds of what is read. A set is not trusted more than any other file.
const (
	MaxFileBytes = 8 << 30   // of one file
	MaxCaseBytes = 256 << 20 // of one case, and of a set of sessions
	maxItems     = 500_000   // memories, turns or questions of one case
)

const readOp = "read set"

// Reader reads the cases of a recall set one by one: published sets are larger than
// memory.
type Reader struct {
	name  string
	file  *os.File
	in    *bounded
	dec   *json.Decoder
	list  bool // the cases are the elements of a list
	cases int
}

// Open opens a recall set. The caller closes it. Errors: not_found; invalid for a file that
// is not a set.
func Open(path string) (*Reader, error) {
	f, err := openFile(path, MaxFileBytes)
	if err != nil {
		return nil, err
	}
	r := &Reader{name: filepath.Base(path), file: f, in: &bounded{r: f, left: MaxCaseBytes}}
	if err := r.begin(); err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// openFile opens a regular file of at most so many bytes.
func openFile(path string, most int64) (*os.File, error) {
	info, err := os.Stat(path) // before opening: opening a pipe waits
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, amber.Errorf(amber.KindNotFound, readOp, path, "the file does not exist")
	case err != nil:
		return nil, &amber.Error{Op: readOp, Kind: amber.KindInternal, ID: path, Err: err}
	}
	if !info.Mode().IsRegular() {
		return nil, amber.Errorf(amber.KindInvalid, readOp, path, "the path is not a regular file")
	}
	if info.Size() > most {
		return nil, amber.Errorf(amber.KindInvalid, readOp, path, "the file has %d bytes, the limit is %d", info.Size(), most)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &amber.Error{Op: readOp, Kind: amber.KindRefused, ID: path, Err: err}
	}
	return f, nil
}

// begin reads up to the first case.
func (r *Reader) begin() error {
	b := bufio.NewReader(r.in)
	for {
		c, err := b.ReadByte()
		switch {
		case err != nil:
			return r.invalid("the file is empty, want JSON")
		case c == ' ', c == '\t', c == '\r', c == '\n':
			continue
		case c != '{' && c != '[':
			return r.invalid("the file does not begin with { or [, want JSON")
		}
		r.list = c == '['
		if err := b.UnreadByte(); err != nil {
			return err
		}
		break
	}
	r.dec = json.NewDecoder(b)
	if r.list {
		_, err := r.dec.Token()
		return err
	}
	return nil
}

// Name is the name of the file.
func (r *Reader) Name() string { return r.name }

// Next returns the next case, [io.EOF] after the last one. Errors: invalid.
func (r *Reader) Next() (*Case, error) {
	raw, err := r.element()
	if err != nil {
		return nil, err
	}
	r.cases++
	c, err := parseCase(raw)
	if err != nil {
		return nil, r.invalid("case %d: %w", r.cases, err)
	}
	return c, nil
}

// element returns the next JSON value that is a case.
func (r *Reader) element() (json.RawMessage, error) {
	r.in.left = MaxCaseBytes
	if r.list && !r.dec.More() {
		if _, err := r.dec.Token(); err != nil {
			return nil, r.broken(err)
		}
		if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
			return nil, r.invalid("there is more after the end of the list")
		}
		return nil, io.EOF
	}
	var raw json.RawMessage
	err := r.dec.Decode(&raw)
	if errors.Is(err, io.EOF) && !r.list && r.cases > 0 {
		return nil, io.EOF
	}
	if err != nil {
		return nil, r.broken(err)
	}
	return raw, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

func (r *Reader) invalid(format string, args ...any) error {
	return &amber.Error{Op: readOp, Kind: amber.KindInvalid, ID: r.name, Err: fmt.Errorf(format, args...), Hint: hintOf(args)}
}

// hintOf is the hint of an error among arguments.
func hintOf(args []any) string {
	for _, a := range args {
		if err, ok := a.(error); ok {
			return amber.HintOf(err)
		}
	}
	return ""
}

func (r *Reader) broken(err error) error {
	if errors.Is(err, errCaseTooLarge) {
		return r.invalid("case %d has more than %d bytes, the limit", r.cases+1, int64(MaxCaseBytes))
	}
	if errors.Is(err, io.EOF) { // the caller would take it for the end of the set
		err = io.ErrUnexpectedEOF
	}
	return r.invalid("case %d is not JSON: %w", r.cases+1, err)
}

// readWhole reads a file that holds one JSON value.
func readWhole(path string, into any) error {
	f, err := openFile(path, MaxCaseBytes)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(&bounded{r: f, left: MaxCaseBytes + 1})
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		return &amber.Error{Op: readOp, Kind: amber.KindInvalid, ID: path, Err: err}
	}
	return nil
}

// bounded fails once more than left bytes were read.
type bounded struct {
	r    io.Reader
	left int64
}

var errCaseTooLarge = errors.New("too large")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errCaseTooLarge
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
