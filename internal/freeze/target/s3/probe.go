package s3

import (
	"context"

	"github.com/minio/minio-go/v7"
)

// The knowledge of a target about whether the server heeds the condition.
const (
	unknown = iota
	heeded
	ignored
)

// probeName is the object that conditions are tried on. No object of a target
// can have the name, and no list shows it.
const probeName = ".amber-probe"

// canCreate reports whether the server heeds If-None-Match. Some do not, and
// say nothing. It is found out once, before the first write: creating the probe
// must fail at the second time at the latest. The probe stays, so that this is
// one request from then on. Several may ask at once; they find the same.
func (t *Target) canCreate(ctx context.Context) (bool, error) {
	if k := t.creates.Load(); k != unknown {
		return k == heeded, nil
	}
	for range 2 {
		o := minio.PutObjectOptions{DisableContentSha256: true}
		o.SetMatchETagExcept("*")
		err := t.put(ctx, t.key(probeName), []byte("amber\n"), o)
		switch {
		case isUnmet(err):
			t.creates.Store(heeded)
			return true, nil
		case answered(err, 400), answered(err, 501):
			// It does not know the condition, or something else is wrong, which the write will show.
			t.creates.Store(ignored)
			return false, nil
		case err != nil:
			return false, err
		}
	}
	t.creates.Store(ignored)
	return false, nil
}
