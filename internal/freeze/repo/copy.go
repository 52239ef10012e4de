package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// CopyOptions say how a repository is copied.
type CopyOptions struct {
	Workers int // packs on their way at a time; 0: 4
	// Progress is called with how many bytes of packs are at the destination and how many there are to send; it may be
	// nil.
	Progress func(done, total int64)
	// Identities open key records. Without one that opens both, a key record of
	// the destination stays what it is.
	Identities []age.Identity
	// Accept says why a key record with such a signature must not be brought; nil
	// accepts every one that is not damaged, signed or not.
	Accept func(SignatureState) error
	// RefusePlain refuses to send snapshots that are not encrypted, and packs that
	// hold something of such ones, whether they were deleted or not.
	RefusePlain bool
}

// Copy brings everything that a repository has and another one has not from one target to the other: packs, then index
// objects, then manifests, each durable before the next, so that the destination holds whole snapshots at any time.
// Every pack that is sent is compared with its name on the way, and every manifest that is there with that of the
// source; packs that are there are not read. Objects that were there before are not sent again, so an interrupted copy
// goes on where it ended; several may run at once, also from several repositories of a tenant. Nothing at the
// destination is deleted or changed but older key records: a snapshot that was deleted at the source stays there.
//
// Encrypted repositories are copied as they are, and two that are not the same cannot share a destination. Copy does
// not believe the names of keys at either end: any person who writes to a target can make them up. A destination
// without a key record is given the one of the source if Accept has nothing against it. A destination that has a key
// record is given a newer one only if in addition the identities open both, and the newer one holds the very keys of
// the other; only then, and when it was read back, those before it are removed. The report names a key record that may
// not be removed, or that holds a key that could not be compared; the next copy tries again.
//
// Errors: damaged for objects that do not match their name; conflict when the
// destination is another repository, or has another key, or has one and the
// source has none, when a newer key record is not proved to hold the keys of the
// destination, or when there is another manifest under the same name; refused for
// what is not encrypted, with RefusePlain; that of Accept; those of the targets.
// With conflict and refused nothing was changed, unless the source changes
// meanwhile.
func Copy(ctx context.Context, from, to target.Target, o CopyOptions) (target.CopyReport, error) {
	if o.Workers == 0 {
		o.Workers = 4
	}
	c := &copying{from: from, to: to, o: o}
	err := c.run(ctx)
	return c.report, err
}

type copying struct {
	from, to target.Target
	o        CopyOptions
	there    map[string]int64 // objects of the destination, and their sizes

	mu     sync.Mutex
	report target.CopyReport
	done   int64
	total  int64
}

func (c *copying) run(ctx context.Context) error {
	// Manifests are listed first: what they need is there by then.
	records, err := objectsOf(ctx, c.from, manifestPrefix, stubPrefix, pinPrefix)
	if err != nil {
		return err
	}
	if c.there, err = sizes(ctx, c.to, ""); err != nil {
		return err
	}
	if err := c.compare(ctx, records); err != nil {
		return err
	}
	if err := c.plainPacks(ctx); err != nil {
		return err
	}
	if err := c.keys(ctx); err != nil {
		return err
	}
	if err := c.packs(ctx); err != nil {
		return err
	}
	if err := c.index(ctx); err != nil {
		return err
	}
	if err := c.rescue(ctx); err != nil {
		return err
	}
	return c.records(ctx, records)
}

// objectsOf lists the objects with some prefixes, in the order of the prefixes.
func objectsOf(ctx context.Context, t target.Target, prefixes ...string) (list []target.Object, err error) {
	for _, prefix := range prefixes {
		err := t.List(ctx, prefix, func(o target.Object) error {
			list = append(list, o)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// names lists the names of the objects with a prefix.
func names(ctx context.Context, t target.Target, prefix string) (list []string, err error) {
	objects, err := objectsOf(ctx, t, prefix)
	for _, o := range objects {
		list = append(list, o.Name)
	}
	return list, err
}

func sizes(ctx context.Context, t target.Target, prefix string) (map[string]int64, error) {
	all := map[string]int64{}
	err := t.List(ctx, prefix, func(o target.Object) error {
		all[o.Name] = o.Size
		return nil
	})
	return all, err
}

// packs sends those that are missing, several at a time.
func (c *copying) packs(ctx context.Context) error {
	var missing []target.Object
	err := c.from.List(ctx, packPrefix, func(o target.Object) error {
		if _, ok := packID(o.Name); !ok {
			return nil
		}
		if size, ok := c.there[o.Name]; ok && size == o.Size {
			c.report.ObjectsPresent++
			c.report.PacksNotCompared++
			return nil
		}
		missing = append(missing, o)
		c.total += o.Size
		return nil
	})
	if err != nil {
		return err
	}
	return forEach(ctx, c.o.Workers, missing, c.pack)
}

// forEach calls fn for every element, some at a time, until one fails.
func forEach[T any](ctx context.Context, workers int, list []T, fn func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan T)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for e := range work {
				if err := fn(ctx, e); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, e := range list {
		select {
		case work <- e:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(work)
	running.Wait()
	return context.Cause(ctx)
}

// pack sends one pack, whole and compared with its name.
func (c *copying) pack(ctx context.Context, o target.Object) error {
	id, _ := packID(o.Name)
	if o.Size > maxPackBytes {
		return damaged("copy repository", o.Name, fmt.Errorf("the object has %d bytes, the limit is %d", o.Size, maxPackBytes))
	}
	b, err := readWhole(ctx, c.from, o.Name, o.Size)
	if amber.KindOf(err) == amber.KindNotFound {
		return nil // gc has deleted it meanwhile: nothing needs it
	}
	if err != nil {
		return err
	}
	if sha256.Sum256(b) != id {
		return damaged("copy repository", o.Name, fmt.Errorf("the bytes do not match the name"))
	}
	if c.o.RefusePlain {
		if err := checkSealedPack(o.Name, b); err != nil {
			return err
		}
	}
	created, err := c.to.Put(ctx, o.Name, int64(len(b)), bytes.NewReader(b))
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done += o.Size
	c.sent(created, o.Size)
	if c.o.Progress != nil {
		c.o.Progress(c.done, c.total)
	}
	return nil
}

func (c *copying) sent(created bool, bytes int64) {
	if created {
		c.report.Objects++
		c.report.Bytes += bytes
		return
	}
	c.report.ObjectsPresent++
}

// index brings the index objects. Packs that none of them names, because an
// index object of the source is lost, are taken up from their directories.
func (c *copying) index(ctx context.Context) error {
	list, err := names(ctx, c.from, indexPrefix)
	if err != nil {
		return err
	}
	for _, name := range list {
		id, ok := indexID(name)
		if !ok {
			continue
		}
		if _, ok := c.there[name]; ok {
			c.report.ObjectsPresent++
			continue
		}
		if err := c.indexObject(ctx, id, name); err != nil {
			return err
		}
	}
	return nil
}

func (c *copying) indexObject(ctx context.Context, id ID, name string) error {
	b, err := readWhole(ctx, c.from, name, maxIndexBytes)
	switch {
	case amber.KindOf(err) == amber.KindNotFound:
		return nil // gc has merged it with others
	case err != nil:
		return err
	case sha256.Sum256(b) != id:
		return nil // damaged at the source: Rebuild makes it again
	}
	created, err := c.to.Put(ctx, name, int64(len(b)), bytes.NewReader(b))
	if err == nil {
		c.sent(created, int64(len(b)))
	}
	return err
}

// rescue stores again what gc at the destination has condemned and we rely on,
// and makes known the packs that no index object there names.
func (c *copying) rescue(ctx context.Context) error {
	r, err := Open(ctx, c.to, nil)
	if err != nil {
		return err
	}
	ours, err := sizes(ctx, c.from, packPrefix)
	if err != nil {
		return err
	}
	if r.unnamed(ours) {
		if err := r.Rebuild(ctx); err != nil {
			return err
		}
	}
	condemned, err := r.Condemned(ctx)
	if err != nil {
		return err
	}
	var lost []ID
	for _, l := range r.inPacks(func(pack ID) bool {
		_, mine := ours[packName(pack)]
		return mine && condemned[pack]
	}) {
		if !r.hasOutside(l, condemned) {
			lost = append(lost, l)
		}
	}
	if len(lost) > 0 {
		_, err = r.StoreAgain(ctx, lost, condemned)
		c.report.Rescued = len(lost)
	}
	return err
}

// unnamed reports whether a pack is in no index object.
func (r *Repo) unnamed(packs map[string]int64) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for name := range packs {
		if id, ok := packID(name); ok {
			if _, known := r.index.number[id]; !known {
				return true
			}
		}
	}
	return false
}

// inPacks returns the blobs of some packs.
func (r *Repo) inPacks(match func(ID) bool) []ID {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var ids []ID
	for _, list := range [][]located{r.index.base, r.index.recent} {
		for _, l := range list {
			if match(r.index.packs[l.pack].id) {
				ids = append(ids, l.id)
			}
		}
	}
	slices.SortFunc(ids, ID.Compare)
	return slices.Compact(ids)
}
