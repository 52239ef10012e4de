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
	Key      string       // names the key it was sealed with; "" for none

	// Set by an opener that keeps.
	entry  entry
	stored []byte
}

// opener makes blobs of stored bytes. It keeps buffers: what it returned is
// overwritten by its next call. Not safe for concurrent use.
type opener struct {
	codec   *codec
	decoder *zstd.Decoder
	// keep is for copying blobs: the stored bytes are returned unchanged, together
	// with the plain bytes. Without the key only the stored bytes are returned,
	// after their checksum was compared.
	keep    bool
	sealed  []byte // what was sealed, when the stored bytes are kept
	plain   []byte
	digests []PageDigest
}

// open checks and expands the stored bytes of a blob. The result may share
// them, and they may be overwritten.
func (o *opener) open(e *entry, stored []byte) (Blob, error) {
	if err := checkStored(e, stored); err != nil {
		return Blob{}, err
	}
	b := Blob{ID: e.id, Kind: e.kind, PageSize: e.pageSize()}
	if o.keep {
		b.entry, b.stored = *e, stored
		if e.sealed && o.codec.closed != nil {
			return b, nil
		}
	}
	k, err := o.codec.keyOf(e, stored)
	if err != nil {
		return Blob{}, err
	}
	b.Key = k.name()
	if b.Data, err = o.expand(e, k, stored); err != nil {
		return Blob{}, err
	}
	if o.id(k, &b) != e.id {
		return Blob{}, errors.New("the bytes do not match the id")
	}
	return b, nil
}

// checkStored compares stored bytes with what a directory says about them.
func checkStored(e *entry, stored []byte) error {
	if len(stored) != int(e.stored) || checksum(stored) != e.crc {
		return errors.New("the stored bytes do not match their checksum")
	}
	return nil
}

// expand returns the plaintext.
func (o *opener) expand(e *entry, k *key, stored []byte) (data []byte, err error) {
	data = stored
	if k != nil {
		dst := stored[sealedHead:]
		if o.keep {
			dst = slices.Grow(o.sealed[:0], len(stored))
			o.sealed = dst
		}
		if data, err = k.open(e, stored, dst); err != nil {
			return nil, err
		}
	}
	if e.compression == compressZstd {
		o.plain = slices.Grow(o.plain[:0], int(e.plain))
		if data, err = decompress(o.decoder, data, o.plain, int(e.plain)); err != nil {
			return nil, err
		}
	}
	if len(data) != int(e.plain) {
		return nil, errors.New("the length does not match")
	}
	return data, nil
}

// id computes the id of a blob, and the digests of its pages.
func (o *opener) id(k *key, b *Blob) ID {
	if b.Kind != KindPages {
		return k.blobID(b.Kind, b.Data)
	}
	o.digests = o.digests[:0]
	for page := range slices.Chunk(b.Data, b.PageSize) {
		o.digests = append(o.digests, DigestPage(page))
	}
	b.Digests = o.digests
	return k.pagesID(b.PageSize, b.Digests)
}
