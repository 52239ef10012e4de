package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"

	"github.com/minio/minio-go/v7"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

const opPut = "put object"

// MaxObjectBytes is the size of the largest object: as many parts as S3
// permits.
const MaxObjectBytes = partSize * maxParts

// Put implements [target.Target]. It holds up to 16 MiB of the object in
// memory, and sends nothing before it has that much, or all, of it. The
// server is given digests of what it is sent. An object that is there with
// another size is damaged. After an error of kind unreachable the object may
// be there. A reader that blocks is not given up when ctx ends: that is noticed
// between its reads.
//
// A write whose answer was lost is made again and then finds the object there;
// by the mark it wrote it knows whether it was its own. A server that drops
// marks makes created false then.
//
// Where the server takes no conditions, Put looks first and then writes: of
// two writers at once both may hear that they created the object, and the
// bytes of the later one stay.
func (t *Target) Put(ctx context.Context, name string, size int64, r io.Reader) (created bool, err error) {
	if err := target.Admit(ctx, opPut, name); err != nil {
		return false, err
	}
	if size < 0 || size > MaxObjectBytes {
		return false, amber.Errorf(amber.KindInvalid, opPut, name,
			"size is %d bytes, want 0 to %d", size, int64(MaxObjectBytes))
	}
	w := &write{target: t, name: name, key: t.key(name), size: size}
	if w.mark, err = t.mark(); err != nil {
		return false, &amber.Error{Op: opPut, Kind: amber.KindInternal, ID: name, Err: err}
	}
	created, err = w.run(ctx, &source{name: name, r: r, size: size})
	if err != nil {
		return false, failure(ctx, opPut, name, err)
	}
	return created, nil
}

// write is one Put on its way.
type write struct {
	target *Target
	name   string
	key    string
	size   int64
	mark   string
}

// run stores the object. Errors of the source are complete.
func (w *write) run(ctx context.Context, s *source) (created bool, err error) {
	if w.size > w.target.part {
		return w.inParts(ctx, s)
	}
	data := make([]byte, w.size)
	if err := s.fill(ctx, data); err != nil {
		return false, asIs{err}
	}
	conditional, err := w.target.canCreate(ctx)
	if err != nil {
		return false, err
	}
	if !conditional {
		if there, _, err := w.look(ctx); there || err != nil {
			return false, err
		}
	}
	err = w.target.put(ctx, w.key, data, w.options(conditional))
	if isUnmet(err) && conditional {
		return w.settle(ctx)
	}
	return err == nil, err
}

// options returns those of the write that makes the object.
func (w *write) options(conditional bool) minio.PutObjectOptions {
	o := marked(w.mark)
	if conditional {
		o.SetMatchETagExcept("*")
	}
	return o
}

// markName is the metadata a write leaves with what it wrote.
const markName = "Amber-Write"

func marked(mark string) minio.PutObjectOptions {
	return minio.PutObjectOptions{
		UserMetadata:         map[string]string{markName: mark},
		DisableContentSha256: true, // of chunks: the digest of the whole is sent
	}
}

// settle answers for a write that found the object there.
func (w *write) settle(ctx context.Context) (created bool, err error) {
	there, mine, err := w.look(ctx)
	if err == nil && !there {
		err = amber.Errorf(amber.KindConflict, opPut, w.name, "another writer stored and deleted the object meanwhile")
	}
	return mine, err
}

// look reports whether the object is there, and whether this write made it. It
// makes sure of its size.
func (w *write) look(ctx context.Context) (there, mine bool, err error) {
	info, err := w.target.stat(ctx, w.key)
	switch {
	case isAbsent(err):
		return false, false, nil
	case err != nil:
		return false, false, err
	case info.Size != w.size:
		return false, false, amber.Errorf(amber.KindDamaged, opPut, w.name,
			"the object that is there has %d bytes instead of %d", info.Size, w.size)
	}
	return true, info.UserMetadata[markName] == w.mark, nil
}

// stat asks for what the server tells about a key.
func (t *Target) stat(ctx context.Context, key string) (info minio.ObjectInfo, err error) {
	_, err = t.try(ctx, expect{}, func(ctx context.Context) error {
		info, err = t.core.StatObject(ctx, t.config.Bucket, key, minio.StatObjectOptions{})
		if err == nil && info.Size < 0 {
			err = errGarbled
		}
		return err
	})
	return info, err
}

// put writes a whole object.
func (t *Target) put(ctx context.Context, key string, data []byte, o minio.PutObjectOptions) error {
	sums := digest(data)
	_, err := t.try(ctx, expect{}, func(ctx context.Context) error {
		_, err := t.core.PutObject(ctx, t.config.Bucket, key, bytes.NewReader(data), int64(len(data)), sums.md5, sums.sha256, o)
		return err
	})
	return err
}

// digests of what is sent, for the server to compare: MD5 is the one that all
// of them know, SHA-256 is part of the signature.
type digests struct{ md5, sha256 string }

func digest(data []byte) digests {
	m, s := md5.Sum(data), sha256.Sum256(data)
	return digests{base64.StdEncoding.EncodeToString(m[:]), hex.EncodeToString(s[:])}
}
