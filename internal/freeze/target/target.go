package target

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/amber-memory/amber"
)

// Target stores the objects of a repository: a folder, an object store. An
// object is written once and never changed. No name may be a folder of another,
// as "a" is of "a/b". Safe for concurrent use, also by
// several programs. Every method returns kind unreachable when the target does
// not answer and refused when it does not permit.
type Target interface {
	// Put stores size bytes under a name unless there is an object of that
	// name; created tells which. The object appears whole or not at all and is
	// durable when Put returns, also when it was there before. Errors: invalid
	// for a bad name or a reader that gives more or fewer bytes; the
	// reader's own.
	Put(ctx context.Context, name string, size int64, r io.Reader) (created bool, err error)
	// Get opens length bytes from an offset; a negative length means to the
	// end. The caller closes it. Errors: not_found; invalid for a range that
	// is not in the object.
	Get(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)
	// List calls fn for every object whose name begins with prefix, in the
	// order of names. Objects that come or go meanwhile may be missed. Errors:
	// those of fn.
	List(ctx context.Context, prefix string, fn func(Object) error) error
	// Delete removes an object; one that is not there is no error.
	Delete(ctx context.Context, name string) error
}

// Object is what a target tells about an object.
type Object struct {
	Name     string     `json:"name"`
	Size     int64      `json:"size"`
	Modified amber.Time `json:"modified"` // by the target's clock
}

// CopyReport says what a copy of a repository did.
type CopyReport struct {
	Snapshots        int   `json:"snapshots_copied"`
	SnapshotsPresent int   `json:"snapshots_present"`
	Objects          int   `json:"objects_copied"`
	ObjectsPresent   int   `json:"objects_present"`
	Bytes            int64 `json:"bytes_copied"`
	Rescued          int   `json:"blobs_rescued"`      // stored again, because gc at the destination was about to delete them
	Plain            int   `json:"plain_snapshots"`    // that are not encrypted, sent or there before
	PacksNotCompared int   `json:"packs_not_compared"` // that were there, and were not read
	// NotRemoved are key records of the destination that should be gone: the
	// identities they belong to can still open it.
	NotRemoved []string `json:"not_removed,omitempty"`
}

// MaxObjectNameBytes bounds the name of an object.
const MaxObjectNameBytes = 200

// CheckObjectName checks the name of an object: parts of
// [a-z0-9._-] joined by slashes, no part empty or beginning with a dot. The
// error is of kind invalid.
func CheckObjectName(name string) error {
	fail := func(format string, args ...any) error {
		return amber.Errorf(amber.KindInvalid, "check object name", fmt.Sprintf("%.40q", name), format, args...)
	}
	if len(name) > MaxObjectNameBytes {
		return fail("name has %d bytes, the limit is %d", len(name), MaxObjectNameBytes)
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return fail("name has an empty part")
		case part[0] == '.':
			return fail("part %q begins with a dot", part)
		case strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789._-") != "":
			return fail("part %q has characters other than a-z, 0-9, dot, underscore and dash", part)
		}
	}
	return nil
}
