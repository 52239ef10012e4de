package keyring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/wire/sign"
)

// Bounds of the list of trusted keys.
const (
	maxTrustedBytes = 1 << 20
	maxTrusted      = 4096 // lines
	maxComment      = 256  // bytes
)

// TrustedKey is a key whose signatures count.
type TrustedKey struct {
	KeyID   sign.KeyID `json:"key_id"`
	Comment string     `json:"comment"` // whose it is; one line
}

// list is the file, line by line, so that what people wrote between the keys
// stays.
type list []line

// line is a key, or text that says nothing: a comment, or an empty line.
type line struct {
	key  TrustedKey
	text string // without its line end
}

// parseList reads the file. A line that cannot be read is an error: whom it
// meant to name is not known.
func parseList(b []byte) (list, error) {
	if len(b) > maxTrustedBytes {
		return nil, fmt.Errorf("the list has more than %d bytes", maxTrustedBytes)
	}
	text := strings.TrimSuffix(string(b), "\n")
	if text == "" {
		return nil, nil
	}
	lines := strings.Split(text, "\n")
	if len(lines) > maxTrusted {
		return nil, fmt.Errorf("the list has more than %d lines", maxTrusted)
	}
	l := make(list, 0, len(lines))
	for i, text := range lines {
		x, err := parseLine(strings.TrimSuffix(text, "\r"))
		if err != nil {
			return nil, fmt.Errorf("line %d: %v", i+1, err)
		}
		l = append(l, x)
	}
	return l, nil
}

func parseLine(text string) (line, error) {
	if err := checkText(text); err != nil {
		return line{}, err
	}
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || trimmed[0] == '#' {
		return line{text: text}, nil
	}
	name, comment, _ := strings.Cut(strings.ReplaceAll(trimmed, "\t", " "), " ")
	key, err := sign.ParseKeyID(name)
	if err != nil {
		return line{}, err
	}
	comment = strings.TrimSpace(comment)
	if len(comment) > maxComment {
		return line{}, fmt.Errorf("a comment of more than %d bytes", maxComment)
	}
	return line{key: TrustedKey{KeyID: key, Comment: comment}, text: text}, nil
}

// checkText refuses what could hide a line, or play with a terminal.
func checkText(s string) error {
	hides := func(r rune) bool { return unicode.IsControl(r) && r != '\t' || unicode.Is(unicode.Bidi_Control, r) }
	switch {
	case !utf8.ValidString(s):
		return errors.New("the comment is not valid UTF-8")
	case strings.ContainsFunc(s, hides):
		return errors.New("the comment has a control character")
	}
	return nil
}

func (l list) bytes() []byte {
	var b []byte
	for _, x := range l {
		b = append(append(b, x.text...), '\n')
	}
	return b
}

// keys returns the keys, each once.
func (l list) keys() []TrustedKey {
	keys := []TrustedKey{}
	seen := map[sign.KeyID]bool{}
	for _, x := range l {
		if id := x.key.KeyID; id != "" && !seen[id] {
			seen[id] = true
			keys = append(keys, x.key)
		}
	}
	return keys
}

// Trusted returns the trusted keys in the order of the file. The caller owns the
// slice. Without the file there are none. Errors: damaged, also for a single
// line that cannot be read; refused when others may write the file.
func (r *Ring) Trusted(ctx context.Context) ([]TrustedKey, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := r.readTrusted()
	if err != nil {
		return nil, err
	}
	return l.keys(), nil
}

func (r *Ring) readTrusted() (list, error) {
	const op = "read trusted keys"
	path := r.path(TrustedFile)
	b, mode, err := readFile(r.o.FS, path, maxTrustedBytes)
	if err != nil {
		if err = failed(op, path, err); amber.KindOf(err) == amber.KindNotFound {
			err = nil
		}
		return nil, err
	}
	if hasModes && mode.Perm()&0o022 != 0 {
		return nil, amber.Errorf(amber.KindRefused, op, path, "other users may write the file: mode is %04o, want 0600", mode.Perm()).WithHint("chmod go-w " + path)
	}
	l, err := parseList(b)
	if err != nil {
		return nil, &amber.Error{Op: op, Kind: amber.KindDamaged, ID: path, Err: errors.New(err.Error())}
	}
	return l, nil
}

// Trust puts a key on the list. A key that is there gets the comment, unless the comment is empty.
// Errors: invalid for a key that is not valid, or a comment of more than a line; quota when the
// list is full; those of [Ring.Trusted]; that of the context.
func (r *Ring) Trust(ctx context.Context, key sign.KeyID, comment string) error {
	const op = "trust key"
	if _, err := sign.ParseKeyID(string(key)); err != nil {
		return err
	}
	comment = strings.TrimSpace(comment)
	if err := checkText(comment); err != nil || len(comment) > maxComment || strings.ContainsRune(comment, '\t') {
		return amber.Errorf(amber.KindInvalid, op, string(key), "the comment is longer than %d bytes or has more than one line", maxComment)
	}
	fresh := line{key: TrustedKey{KeyID: key, Comment: comment}, text: strings.TrimSpace(string(key) + " " + comment)}
	return r.change(ctx, op, func(l list) (list, error) {
		at := slices.IndexFunc(l, func(x line) bool { return x.key.KeyID == key })
		switch {
		case at < 0 && (len(l) >= maxTrusted || len(l.bytes())+len(fresh.text)+1 > maxTrustedBytes):
			return nil, amber.Errorf(amber.KindQuota, op, string(key), "the list of trusted keys is full")
		case at < 0:
			return append(l, fresh), nil
		case comment != "":
			l[at] = fresh
		}
		return l, nil
	})
}

// Untrust takes a key off the list. Errors: invalid; not_found when it is not
// there; those of [Ring.Trusted]; that of the context.
func (r *Ring) Untrust(ctx context.Context, key sign.KeyID) error {
	const op = "untrust key"
	if _, err := sign.ParseKeyID(string(key)); err != nil {
		return err
	}
	return r.change(ctx, op, func(l list) (list, error) {
		left := slices.DeleteFunc(slices.Clone(l), func(x line) bool { return x.key.KeyID == key })
		if len(left) == len(l) {
			return nil, amber.Errorf(amber.KindNotFound, op, string(key), "not on the list of trusted keys")
		}
		return left, nil
	})
}

// change replaces the list under a lock, so that no other process changes it meanwhile.
func (r *Ring) change(ctx context.Context, op string, edit func(list) (list, error)) error {
	if err := fsx.MkdirAll(r.o.FS, r.dir, 0o700); err != nil {
		return failed(op, r.dir, err)
	}
	lock, err := fsx.AcquireLock(ctx, r.path(lockName), fsx.Exclusive)
	if err != nil {
		return failed(op, r.path(lockName), err)
	}
	err = r.changeLocked(op, edit)
	if uerr := lock.Unlock(); err == nil && uerr != nil {
		err = failed(op, r.path(lockName), uerr)
	}
	return err
}

func (r *Ring) changeLocked(op string, edit func(list) (list, error)) error {
	l, err := r.readTrusted()
	if err != nil {
		return err
	}
	if l, err = edit(l); err != nil {
		return err
	}
	// Also when nothing changed: its writer may have died before it was
	// durable.
	if err := fsx.Replace(r.o.FS, r.path(TrustedFile), 0o600, l.bytes()); err != nil {
		return failed(op, r.path(TrustedFile), err)
	}
	return nil
}
