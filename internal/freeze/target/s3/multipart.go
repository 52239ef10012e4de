package s3

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	partSize = 16 << 20
	maxParts = 10000
)

// abortTime is how long a write that failed may take to remove its parts.
const abortTime = 10 * time.Second

// inParts stores an object part by part, one at a time. Nothing is to be seen
// of it before the last step.
func (w *write) inParts(ctx context.Context, s *source) (created bool, err error) {
	conditional, err := w.target.canCreate(ctx)
	if err != nil {
		return false, err
	}
	// The condition holds at the last step only: to send all of it first for
	// nothing would be a waste, and some servers have no condition there.
	if there, _, err := w.look(ctx); there || err != nil {
		return false, err
	}
	upload, err := w.begin(ctx)
	if err != nil {
		return false, err
	}
	done := false
	defer func() {
		if !done {
			w.abort(ctx, upload)
		}
	}()
	parts, err := w.send(ctx, upload, s)
	if err != nil {
		return false, err
	}
	unsure, err := w.target.try(ctx, expect{}, func(ctx context.Context) error {
		_, err := w.target.core.CompleteMultipartUpload(ctx, w.target.config.Bucket, w.key, upload, parts, w.options(conditional))
		return err
	})
	if done = err == nil; done {
		return true, nil
	}
	if isCode(err, noSuchUpload) && unsure || conditional && (isUnmet(err) || answered(err, http.StatusConflict)) {
		return w.settle(ctx)
	}
	return false, err
}

// begin starts an upload. One whose answer was lost is started again; the
// first one is left to [Target.Sweep].
func (w *write) begin(ctx context.Context) (upload string, err error) {
	o := marked(w.mark)
	_, err = w.target.try(ctx, expect{root: "InitiateMultipartUploadResult"}, func(ctx context.Context) error {
		upload, err = w.target.core.NewMultipartUpload(ctx, w.target.config.Bucket, w.key, o)
		if err == nil && upload == "" {
			err = errGarbled
		}
		return err
	})
	return upload, err
}

func (w *write) send(ctx context.Context, upload string, s *source) (parts []minio.CompletePart, err error) {
	buf := make([]byte, w.target.part)
	for left := w.size; left > 0; left -= int64(len(buf)) {
		buf = buf[:min(left, w.target.part)]
		if err := s.fill(ctx, buf); err != nil {
			return nil, asIs{err}
		}
		part, err := w.sendPart(ctx, upload, len(parts)+1, buf)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func (w *write) sendPart(ctx context.Context, upload string, number int, data []byte) (part minio.CompletePart, err error) {
	sums := digest(data)
	_, err = w.target.try(ctx, expect{}, func(ctx context.Context) error {
		p, err := w.target.core.PutObjectPart(ctx, w.target.config.Bucket, w.key, upload, number, bytes.NewReader(data), int64(len(data)),
			minio.PutObjectPartOptions{Md5Base64: sums.md5, Sha256Hex: sums.sha256, DisableContentSha256: true})
		if err == nil && p.ETag == "" {
			err = errGarbled
		}
		part = minio.CompletePart{PartNumber: number, ETag: p.ETag}
		return err
	})
	return part, err
}

// abort removes the parts, also when ctx is over. Parts that cannot be removed now are left to
// [Target.Sweep].
func (w *write) abort(ctx context.Context, upload string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
	defer cancel()
	_ = w.target.abort(ctx, w.key, upload)
}

// abort removes an upload; one that is not there is no error.
func (t *Target) abort(ctx context.Context, key, upload string) error {
	_, err := t.try(ctx, expect{}, func(ctx context.Context) error {
		return t.core.AbortMultipartUpload(ctx, t.config.Bucket, key, upload)
	})
	if isCode(err, noSuchUpload) || isAbsent(err) {
		return nil
	}
	return err
}
