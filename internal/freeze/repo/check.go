package repo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/amber-memory/amber"
)

// CheckReport says what a check has looked at and what was wrong.
type CheckReport struct {
	DataRead     bool // every blob was read, expanded and compared with its id
	IndexObjects int
	Packs        int
	Blobs        int   // in the directories of packs that are intact
	Bytes        int64 // of packs
	// Unopened are encrypted blobs of which only the stored bytes were compared
	// with their checksums, because the repository is locked.
	Unopened int
	// Problems are at most a thousand; More counts the others.
	Problems []Problem
	More     int
	// Unindexed are packs that no intact index object names: left by a writer
	// that died or is still at work, or their index object got lost. Nothing
	// finds their blobs before [Repo.Rebuild].
	Unindexed []string

	unindexedBytes int64
}

// OK reports whether nothing was wrong with what was looked at.
func (c *CheckReport) OK() bool { return len(c.Problems) == 0 }

// Check looks at every pack and index object on the target as it is now: the
// header, directory and footer of each pack, each index object, and whether it
// says about its packs what they say. With readData every byte of every pack
// is read, every blob expanded and compared with its id, and every pack with
// its name. In a locked repository what is encrypted is not expanded. Damage is
// no error. Errors: those of the target.
func (r *Repo) Check(ctx context.Context, readData bool) (CheckReport, error) {
	l, err := list(ctx, r.target)
	if err != nil {
		return CheckReport{}, err
	}
	c := &checker{repo: r, listing: l, sums: map[ID][sha256.Size]byte{}, stream: r.newStream()}
	c.report.DataRead = readData
	for _, id := range sorted(l.packs) {
		if err := c.pack(ctx, id, readData); err != nil {
			return CheckReport{}, err
		}
	}
	if err := c.index(ctx); err != nil {
		return CheckReport{}, err
	}
	c.report.Problems, c.report.More = c.problems.list, c.problems.more
	return c.report, nil
}

// checker is one check.
type checker struct {
	repo     *Repo
	listing  listing
	sums     map[ID][sha256.Size]byte // of the directories of intact packs
	problems problems
	report   CheckReport
	stream   *stream
}

// pack checks a pack.
func (c *checker) pack(ctx context.Context, id ID, readData bool) error {
	name, size := packName(id), c.listing.packs[id]
	c.report.Packs++
	c.report.Bytes += size
	d, err := readDirectory(ctx, c.repo.target, id, size)
	if err != nil {
		return c.problems.note(name, err)
	}
	if readData {
		err = c.data(ctx, d)
	} else {
		err = c.header(ctx, name)
	}
	if err != nil {
		return c.problems.note(name, err)
	}
	c.sums[id] = sha256.Sum256(d.dir)
	c.report.Blobs += d.dir.blobs()
	return nil
}

func (c *checker) header(ctx context.Context, name string) error {
	b, err := fetch(ctx, c.repo.target, name, 0, packHeaderBytes, nil)
	if err != nil {
		return err
	}
	if err := checkPackHeader(b); err != nil {
		return damaged("check pack", name, err)
	}
	return nil
}

// data reads a whole pack. It notes blobs that are damaged and returns what is
// wrong with the rest.
func (c *checker) data(ctx context.Context, d packDir) error {
	name := packName(d.id)
	body, err := openRange(ctx, c.repo.target, name, 0, d.size)
	if err != nil {
		return err
	}
	defer body.Close()
	sum := sha256.New()
	r := io.TeeReader(body, sum)
	if err := c.fill(r, name, packHeaderBytes); err != nil {
		return err
	}
	if err := checkPackHeader(c.stream.stored); err != nil {
		return damaged("check pack", name, err)
	}
	if err := c.blobs(ctx, r, d); err != nil {
		return err
	}
	return c.end(r, sum, d)
}

func (c *checker) blobs(ctx context.Context, r io.Reader, d packDir) error {
	for i := range d.dir.blobs() {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := d.dir.at(i)
		if err := c.fill(r, packName(d.id), int(e.stored)); err != nil {
			return err
		}
		if err := c.blob(&e); err != nil {
			c.problems.add(problemOf(packName(d.id), e.id, damaged("check blob", e.id.String(), err)))
		}
	}
	return nil
}

// fill reads what comes next of a pack.
func (c *checker) fill(r io.Reader, name string, n int) (err error) {
	c.stream.stored, err = fill(r, name, 0, n, c.stream.stored)
	return err
}

// blob checks the blob that was read.
func (c *checker) blob(e *entry) error {
	o := &c.stream.opener
	if !e.sealed || o.codec.closed == nil {
		_, err := o.open(e, c.stream.stored)
		return err
	}
	c.report.Unopened++
	return cmp.Or(checkStored(e, c.stream.stored), o.codec.holds(c.stream.stored))
}

// end reads what lies behind the blobs and compares the pack with its name.
func (c *checker) end(r io.Reader, sum hash.Hash, d packDir) error {
	name := packName(d.id)
	if err := c.fill(r, name, len(d.dir)+packFooterBytes); err != nil {
		return err
	}
	if ID(sum.Sum(nil)) != d.id {
		return damaged("check pack", name, errors.New("the bytes do not match the name"))
	}
	return nil
}

// index checks all index objects against the packs.
func (c *checker) index(ctx context.Context) error {
	named := map[ID]bool{}
	var buf []byte
	for _, id := range sorted(c.listing.index) {
		var packs []packDir
		var err error
		c.report.IndexObjects++
		packs, buf, err = readIndex(ctx, c.repo.target, id, c.listing.index[id], buf)
		if err := c.problems.note(indexName(id), err); err != nil {
			return err
		}
		for _, p := range packs {
			named[p.id] = true
			if c.problems.missing(p, c.listing.packs) {
				continue
			}
			// A pack without a sum is damaged and has been noted.
			if sum, ok := c.sums[p.id]; ok && sum != sha256.Sum256(p.dir) {
				c.problems.add(Problem{
					Object: indexName(id), Kind: amber.KindDamaged,
					Reason: fmt.Sprintf("index describes %s differently from the pack itself", packName(p.id)),
				})
			}
		}
	}
	for _, id := range sorted(c.listing.packs) {
		if !named[id] {
			c.report.Unindexed = append(c.report.Unindexed, packName(id))
			c.report.unindexedBytes += c.listing.packs[id]
		}
	}
	return nil
}
