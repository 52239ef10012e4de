package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/pointer"
)

const opSwap = "swap pointer"

// LoadPointer implements [target.Pointers]. The caller owns the value. An
// object that is not what a swap writes is damaged.
func (t *Target) LoadPointer(ctx context.Context, name string) (value []byte, version string, err error) {
	const op = "load pointer"
	if err := checkPointer(ctx, op, name); err != nil {
		return nil, "", err
	}
	data, etag, err := t.load(ctx, t.pointerKey(name))
	switch {
	case isAbsent(err):
		return nil, "", nil
	case err != nil:
		return nil, "", failure(ctx, op, name, err)
	case !isETag(etag):
		return nil, "", noConditions(op, name)
	}
	p, err := pointer.Decode(data)
	switch {
	case errors.Is(err, pointer.ErrTooNew):
		return nil, "", &amber.Error{Op: op, Kind: amber.KindTooNew, ID: name, Err: err}
	case err != nil:
		return nil, "", &amber.Error{Op: op, Kind: amber.KindDamaged, ID: name, Err: err}
	}
	return p.Value, versionOf(p.Count, etag), nil
}

// SwapPointer implements [target.Pointers]. Versions never come again. On a
// server that does not heed conditions of writes it returns kind unsupported
// and changes nothing. After an error of kind unreachable the value may be the
// old or the new one.
//
// A swap whose answer was lost is made again and then finds another version;
// by the mark it wrote it knows whether that is its own. When it is not, the
// swap may have happened and been followed by another: the answer is
// unreachable, since conflict would say that it did not.
func (t *Target) SwapPointer(ctx context.Context, name, version string, value []byte) (newVersion string, err error) {
	if err := checkPointer(ctx, opSwap, name); err != nil {
		return "", err
	}
	if len(value) > target.MaxPointerBytes {
		return "", amber.Errorf(amber.KindInvalid, opSwap, name,
			"the value has %d bytes, the limit is %d", len(value), target.MaxPointerBytes)
	}
	can, err := t.canMatch(ctx)
	switch {
	case err != nil:
		return "", failure(ctx, opSwap, name, err)
	case !can:
		return "", noConditions(opSwap, name)
	}
	count, etag, ok := parseVersion(version)
	if !ok {
		return "", conflict(name)
	}
	etag, err = t.swap(ctx, name, etag, pointer.Pointer{Count: count + 1, Value: value})
	if err != nil {
		return "", failure(ctx, opSwap, name, err)
	}
	return versionOf(count+1, etag), nil
}

// swap writes the pointer if its ETag is still the given one, "" meaning that
// there is none, and returns the new one.
func (t *Target) swap(ctx context.Context, name, etag string, next pointer.Pointer) (newETag string, err error) {
	mark, err := t.mark()
	if err != nil {
		return "", err
	}
	o := marked(mark)
	if etag == "" {
		o.SetMatchETagExcept("*")
	} else {
		o.SetMatchETag(etag)
	}
	newETag, unsure, err := t.put(ctx, t.pointerKey(name), next.Encode(), o)
	switch {
	case err == nil && isETag(newETag):
		return newETag, nil
	case isUnmet(err) && !unsure:
		return "", conflict(name)
	case err != nil && !isUnmet(err):
		return "", err
	}
	info, err := t.stat(ctx, t.pointerKey(name))
	switch {
	case err != nil && !isAbsent(err):
		return "", err
	case err == nil && info.UserMetadata[markName] == mark && isETag(info.ETag):
		return info.ETag, nil
	}
	return "", errors.New("an answer was lost, and another writer has changed the pointer since")
}

// load reads a whole small object.
func (t *Target) load(ctx context.Context, key string) (data []byte, etag string, err error) {
	for n := 1; ; n++ {
		if data, etag, err = t.loadOnce(ctx, key); err == nil || !again(err) || n == t.attempts {
			return data, etag, err
		}
		if err := t.wait(ctx, n); err != nil {
			return nil, "", err
		}
	}
}

func (t *Target) loadOnce(ctx context.Context, key string) (data []byte, etag string, err error) {
	s, err := t.fetch(ctx, key, 0, -1, "")
	if err != nil {
		return nil, "", err
	}
	data, err = io.ReadAll(io.LimitReader(s.body, pointer.MaxBytes))
	if err != nil {
		err = s.attempt.why(err)
	}
	return data, s.etag, errors.Join(err, s.Close())
}

func (t *Target) pointerKey(name string) string { return t.key(target.PointerFolder + "/" + name) }

func checkPointer(ctx context.Context, op, name string) error {
	if err := target.Alive(ctx, op, name); err != nil {
		return err
	}
	return target.CheckObjectName(name)
}

func conflict(name string) error {
	return amber.Errorf(amber.KindConflict, opSwap, name, "another writer has changed the pointer")
}

func noConditions(op, name string) error {
	return &amber.Error{
		Op: op, Kind: amber.KindUnsupported, ID: name, Err: errors.New("the server does not heed conditions of writes"),
		Hint: "use a server that supports If-None-Match and If-Match for PUT",
	}
}

// versionOf names a state of a pointer: its ETag, with which the server
// compares, after the count, which keeps a value that comes back apart from its
// first time.
func versionOf(count uint64, etag string) string { return fmt.Sprintf("%d-%s", count, etag) }

// parseVersion reads what versionOf writes; "" is the version of no pointer.
func parseVersion(version string) (count uint64, etag string, ok bool) {
	if version == "" {
		return 0, "", true
	}
	number, etag, _ := strings.Cut(version, "-")
	count, err := strconv.ParseUint(number, 10, 64)
	return count, etag, err == nil && count > 0 && count < pointer.MaxCount && isETag(etag)
}

// isETag reports whether s can be compared by a server: ETags are hostile, and
// weak ones say nothing.
func isETag(s string) bool {
	return s != "" && len(s) <= 128 && consists(s, "._-+/=:")
}
