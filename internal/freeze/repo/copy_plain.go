package repo

import (
	"bytes"
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

// saltBlobBytes is the length of the blobs that [packing.salt] adds.
const saltBlobBytes = len(saltDomain) + len(ID{})

// plainPacks looks for packs that would be sent and hold blobs that are not
// encrypted, as far as the index of the source tells: those of snapshots that
// were deleted stay until space is freed.
func (c *copying) plainPacks(ctx context.Context) error {
	if !c.o.RefusePlain {
		return nil
	}
	r, err := Open(ctx, c.from, nil)
	if err != nil {
		return err
	}
	packs := map[uint32]bool{}
	for _, list := range [][]located{r.index.base, r.index.recent} {
		for _, l := range list {
			pack := r.index.packs[l.pack]
			size, there := c.there[packName(pack.id)]
			if !l.sealed && !mayBeSalt(&l.entry) && !pack.bad && (!there || size != pack.size) {
				packs[l.pack] = true
			}
		}
	}
	if len(packs) == 0 {
		return nil
	}
	return errPlainPacks(fmt.Sprintf("%d packs hold", len(packs)))
}

func errPlainPacks(what string) error {
	e := errPlain(what + " blobs that are not encrypted")
	e.Hint = "amber snapshot gc"
	return e
}

func mayBeSalt(e *entry) bool {
	return e.kind == KindFile && e.compression == compressNone && int(e.plain) == saltBlobBytes
}

// checkSealedPack looks at the bytes of a pack that is about to be sent:
// everything in it is encrypted, but for salt. Errors: refused; those of a pack
// that is damaged.
func checkSealedPack(name string, b []byte) error {
	if len(b) < minPackBytes {
		return damaged("copy repository", name, fmt.Errorf("the pack has %d bytes, too few or too many", len(b)))
	}
	f, err := parseFooter(b[len(b)-packFooterBytes:], int64(len(b)))
	if err != nil {
		return damaged("copy repository", name, err)
	}
	dir := directory(b[f.offset : f.offset+f.bytes()])
	if err := f.check(dir); err != nil {
		return damaged("copy repository", name, err)
	}
	for i := range dir.blobs() {
		e := dir.at(i)
		if !e.sealed && !(mayBeSalt(&e) && bytes.HasPrefix(b[e.offset:e.end()], []byte(saltDomain))) {
			return errPlainPacks("a pack holds")
		}
	}
	return nil
}

// errPlain says that something is not encrypted.
func errPlain(what string) *amber.Error {
	return amber.Errorf(amber.KindRefused, "copy repository", "", "%s, and only encrypted objects may be copied", what)
}
