package s3

import (
	"context"
	"sync/atomic"

	"github.com/minio/minio-go/v7"
)

// The knowledge of a target about whether the server heeds a condition.
const (
	unknown = iota
	heeded
	ignored
)

// probeName is the object that conditions are tried on. No object of a target
// can have the name, and no list shows it.
const probeName = ".amber-probe"

// noETag is the ETag of no object.
const noETag = "00000000000000000000000000000000"

// canCreate reports whether the server heeds If-None-Match. Some do not, and
// say nothing. It is found out once, before the first write: creating the probe
// must fail at the second time at the latest. The probe stays, so that this is
// one request from then on.
func (t *Target) canCreate(ctx context.Context) (bool, error) {
	return t.probe(ctx, &t.creates, 2, func(o *minio.PutObjectOptions) { o.SetMatchETagExcept("*") })
}

// canMatch is canCreate for If-Match. It makes sure of both.
func (t *Target) canMatch(ctx context.Context) (bool, error) {
	if creates, err := t.canCreate(ctx); !creates || err != nil {
		return false, err
	}
	return t.probe(ctx, &t.matches, 1, func(o *minio.PutObjectOptions) { o.SetMatchETag(noETag) })
}

// probe writes the probe a number of times and returns whether the condition
// kept one of them from happening. Several may do so at once; they find the
// same.
func (t *Target) probe(ctx context.Context, known *atomic.Int32, times int, condition func(*minio.PutObjectOptions)) (bool, error) {
	if k := known.Load(); k != unknown {
		return k == heeded, nil
	}
	for range times {
		o := minio.PutObjectOptions{DisableContentSha256: true}
		condition(&o)
		_, _, err := t.put(ctx, t.key(probeName), []byte("amber\n"), o)
		switch {
		case isUnmet(err):
			known.Store(heeded)
			return true, nil
		case answered(err, 400), answered(err, 501):
			// It does not know the condition, or something else is wrong, which the write will show.
			known.Store(ignored)
			return false, nil
		case err != nil:
			return false, err
		}
	}
	known.Store(ignored)
	return false, nil
}
