package s3

import (
	"context"
	"errors"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// Delete implements [target.Target]. In a bucket that keeps versions, the
// versions stay.
func (t *Target) Delete(ctx context.Context, name string) error {
	const op = "delete object"
	if err := target.Admit(ctx, op, name); err != nil {
		return err
	}
	_, err := t.try(ctx, expect{}, func(ctx context.Context) error {
		return t.core.RemoveObject(ctx, t.config.Bucket, t.key(name), minio.RemoveObjectOptions{})
	})
	if err != nil && !isAbsent(err) {
		return failure(ctx, op, name, err)
	}
	return nil
}

// Sweep removes the parts that writers of large objects which were killed left
// behind, those begun before the given time, and returns of how many objects. A
// writer still at work whose parts are swept fails and has stored nothing, so
// the time should lie some hours back. It goes on after an error and returns
// all of them.
func (t *Target) Sweep(ctx context.Context, before amber.Time) (removed int, err error) {
	const op = "sweep target"
	var errs []error
	var key, upload string
	for {
		page, err := t.uploads(ctx, key, upload)
		if err != nil {
			return removed, errors.Join(append(errs, failure(ctx, op, t.config.String(), err))...)
		}
		for _, u := range page.Uploads {
			if !strings.HasPrefix(u.Key, t.key("")) || !amber.At(u.Initiated).Before(before) {
				continue
			}
			if err := t.abort(ctx, u.Key, u.UploadID); err != nil {
				errs = append(errs, failure(ctx, op, strings.TrimPrefix(u.Key, t.key("")), err))
				continue
			}
			removed++
		}
		if !page.IsTruncated || page.NextKeyMarker < key || page.NextKeyMarker == key && page.NextUploadIDMarker == upload {
			return removed, errors.Join(errs...)
		}
		key, upload = page.NextKeyMarker, page.NextUploadIDMarker
	}
}

// uploads returns a page of the uploads that were begun and not ended.
func (t *Target) uploads(ctx context.Context, key, upload string) (page minio.ListMultipartUploadsResult, err error) {
	_, err = t.try(ctx, expect{root: "ListMultipartUploadsResult"}, func(ctx context.Context) error {
		page, err = t.core.ListMultipartUploads(ctx, t.config.Bucket, t.key(""), key, upload, "", pageSize)
		return err
	})
	if isCode(err, noSuchUpload) { // as some servers say when there is none
		return minio.ListMultipartUploadsResult{}, nil
	}
	return page, err
}
