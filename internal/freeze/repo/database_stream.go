package repo

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
)

// StreamDatabase reads a database from its first page to its last. At the end
// the digest of the whole is compared: a reader that ends with [io.EOF] has given
// exactly the pages that were stored. Errors, of this and of reading: those of
// [Repo.OpenDatabase]; damaged.
func (r *Repo) StreamDatabase(ctx context.Context, ref DatabaseRef, cacheBytes int64) (io.Reader, error) {
	d, err := r.OpenDatabase(ctx, ref, cacheBytes)
	if err != nil {
		return nil, err
	}
	return &databaseStream{d: d, want: ref.Digest, sum: newDatabaseHash(ref.PageSize, ref.Pages)}, nil
}

// newDatabaseHash returns what the digests of all pages are written to.
func newDatabaseHash(pageSize int, pages int64) hash.Hash {
	h := sha256.New()
	b := binary.LittleEndian.AppendUint32([]byte(databaseDomain), uint32(pageSize))
	h.Write(binary.LittleEndian.AppendUint64(b, uint64(pages)))
	return h
}

type databaseStream struct {
	d    *DatabaseReader
	want ID
	sum  hash.Hash
	next int    // run
	rest []byte // of the run before
	err  error
}

func (s *databaseStream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 && s.err == nil {
		s.err = s.run()
	}
	if len(s.rest) == 0 {
		return 0, s.err
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// run takes up the next run, or compares the digest behind the last.
func (s *databaseStream) run() error {
	if s.next == len(s.d.m.runs) {
		if ID(s.sum.Sum(nil)) != s.want {
			return damaged("read database", "", errors.New("the pages do not match the digest of the database"))
		}
		return io.EOF
	}
	r := s.d.m.runs[s.next]
	s.next++
	pages, digests, err := s.d.pages(r)
	if err != nil {
		return err
	}
	for i := range digests {
		s.sum.Write(digests[i][:])
	}
	s.rest = pages
	return nil
}
