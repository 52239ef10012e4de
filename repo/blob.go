package repo

import (
	"errors"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Blob is a blob that was read: its id was computed from Data.
type Blob struct {
	ID       ID
	Kind     Kind
	Data     []byte
	PageSize int          // of a blob of pages; otherwise 0
	Digests  []PageDigest // of a blob of pages: of each page in Data
}

// opener makes blobs of stored bytes. It keeps buffers: what it returned is
// overwritten by its next call. Not safe for concurrent use.
type opener struct {
	codec   codec
	decoder *zstd.Decoder
	plain   []byte
	digests []PageDigest
}

// open checks and expands the stored bytes of a blob. The result may share
// them.
func (o *opener) open(e *entry, stored []byte) (Blob, error) {
	if len(stored) != int(e.stored) || checksum(stored) != e.crc {
		return Blob{}, errors.New("the stored bytes do not match their checksum")
	}
	data, err := o.codec.open(e, stored)
	if err != nil {
		return Blob{}, err
	}
	if e.compression == compressZstd {
		o.plain = slices.Grow(o.plain[:0], int(e.plain))
		if data, err = decompress(o.decoder, data, o.plain, int(e.plain)); err != nil {
			return Blob{}, err
		}
	}
	if len(data) != int(e.plain) {
		return Blob{}, errors.New("the length is wrong")
	}
	b := Blob{ID: e.id, Kind: e.kind, Data: data, PageSize: e.pageSize()}
	if o.id(&b) != e.id {
		return Blob{}, errors.New("the bytes do not match the id")
	}
	return b, nil
}

// id computes the id of a blob, and the digests of its pages.
func (o *opener) id(b *Blob) ID {
	if b.Kind != KindPages {
		return o.codec.blobID(b.Kind, b.Data)
	}
	o.digests = o.digests[:0]
	for page := range slices.Chunk(b.Data, b.PageSize) {
		o.digests = append(o.digests, DigestPage(page))
	}
	b.Digests = o.digests
	return o.codec.pagesID(b.PageSize, b.Digests)
}
