package s3

import (
	"context"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

const (
	opList   = "list objects"
	rootList = "ListBucketResult"
	pageSize = 1000 // the most that S3 gives
)

// List implements [target.Target]. It reads a page at a time, and goes on after
// the last name where a page is lost. Keys that are not names of objects are
// passed over. A list that is not in order, or has keys that were not asked
// for, is damaged.
func (t *Target) List(ctx context.Context, prefix string, fn func(target.Object) error) error {
	if err := target.Alive(ctx, opList, prefix); err != nil {
		return err
	}
	if !mayBegin(prefix) {
		return nil
	}
	l := &listing{target: t, prefix: prefix, fn: fn}
	for failed := 1; ; failed++ {
		before := l.last
		err := l.run(ctx)
		if l.last != before {
			failed = 1
		}
		if err == nil || !again(err) || failed >= t.attempts {
			return l.finish(ctx, err)
		}
		if err := t.wait(ctx, failed); err != nil {
			return l.finish(ctx, err)
		}
	}
}

// mayBegin reports whether the name of an object can begin so.
func mayBegin(prefix string) bool {
	return target.CheckObjectName(prefix) == nil || target.CheckObjectName(prefix+"a") == nil
}

// listing is a List on its way.
type listing struct {
	target *Target
	prefix string
	fn     func(target.Object) error
	last   string // the key it has come to
}

func (t *Target) listOptions(prefix string, page int) minio.ListObjectsOptions {
	return minio.ListObjectsOptions{Prefix: t.key(prefix), Recursive: true, MaxKeys: page, FetchOwner: new(bool)}
}

// run lists what comes after the last key until the end, or until something
// goes wrong.
func (l *listing) run(ctx context.Context) error {
	a := l.target.begin(ctx, expect{root: rootList})
	defer a.end()
	o := l.target.listOptions(l.prefix, pageSize)
	o.StartAfter = l.last
	for info := range l.target.core.ListObjectsIter(a.ctx, l.target.config.Bucket, o) {
		if info.Err != nil {
			return a.cause(info.Err)
		}
		a.pages = 0
		if err := l.take(ctx, info); err != nil {
			return err
		}
	}
	return context.Cause(a.ctx) // the iterator just ends then
}

// take tells the caller about a key, if it is that of an object.
func (l *listing) take(ctx context.Context, info minio.ObjectInfo) error {
	if err := target.Alive(ctx, opList, l.prefix); err != nil {
		return asIs{err}
	}
	if !strings.HasPrefix(info.Key, l.target.key(l.prefix)) {
		return l.damaged("the server lists names outside the prefix")
	}
	if info.Key <= l.last {
		return l.damaged("the server does not list in the order of names")
	}
	l.last = info.Key
	name := strings.TrimPrefix(info.Key, l.target.key(""))
	if target.CheckObjectName(name) != nil {
		return nil
	}
	if info.Size < 0 {
		return l.damaged("the server lists a negative size")
	}
	if err := l.fn(target.Object{Name: name, Size: info.Size, Modified: amber.At(info.LastModified)}); err != nil {
		return asIs{err}
	}
	return nil
}

func (l *listing) damaged(why string) error {
	return amber.Errorf(amber.KindDamaged, opList, l.prefix, "%s", why)
}

func (l *listing) finish(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return failure(ctx, opList, l.prefix, err)
}
