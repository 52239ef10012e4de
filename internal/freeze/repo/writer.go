package repo

import (
	"context"
	"sync"

	"github.com/amber-memory/amber"
)

const (
	compressors = 2
	// inFlight is how many blobs a writer holds that are in no pack yet.
	inFlight = 4 * compressors
	// copyBytes is the longest blob that Put copies; it waits for longer ones.
	copyBytes = 256 << 10
	// packsInMemory are the one that fills and the one that is uploaded.
	packsInMemory = 2
)

// Report says what a [Writer] has done since it began.
type Report struct {
	New    int   // blobs stored
	Known  int   // blobs that were there already, in the repository or from this writer
	Plain  int64 // bytes of the new blobs
	Stored int64 // bytes they take in packs
	Packs  int   // packs uploaded
}

// Writer stores blobs. Safe for concurrent use; blobs lie in packs in the
// order of Put. It needs about 12 MiB as long as no blob is longer than 64 KiB,
// 16 MiB as long as none is longer than 256 KiB, and for a longer one about its
// length in addition.
//
// In an encrypted repository everything is sealed with the key that was the
// current one when the writer began. When there is another one by then, Put
// returns an error of kind conflict, and nothing more is stored. Before its first
// pack a writer lists the key records: when others have changed them since they
// were read, Flush returns an error of kind conflict.
//
// The first pack that cannot be stored ends a writer: Put and Flush return
// that error from then on.
type Writer struct {
	repo    *Repo
	codec   *codec // when the writer began
	encs    *encoders
	buffers chan []byte // for packs, nil at first: their number bounds the packs in memory

	free    chan *job // at rest: their number bounds what is in flight
	work    chan *job // to the compressors
	order   chan *job // to the packer, in the order of Put
	uploads chan upload

	cancel  context.CancelFunc // stops uploads
	done    sync.WaitGroup
	broken  chan struct{} // closed when err is set
	indexed sync.Mutex    // held by a Flush while it writes index objects
	parts   sync.Pool     // *[]byte, each for a part of a file
	outs    sync.Pool     // *[]byte, each for a part of a file, compressed

	mu     sync.Mutex
	err    error
	closed bool
	seen   map[ID]struct{}
	avoid  map[ID]bool // packs
	lost   map[ID]bool // blobs that are there, and damaged
	sealed map[ID]ID   // digests of the stored bytes of inner manifests
	report Report
	packs  []packDir // durable, and in no index object yet
	stored []ID      // packs that are durable
}

// job is a blob on its way into a pack, or a Flush behind the blobs before it.
type job struct {
	entry  entry
	plain  []byte // what is compressed: buf, or the caller's bytes
	stored []byte // what is packed: plain or out
	buf    []byte
	out    []byte
	ready  chan struct{} // one value: compressed
	packed chan struct{} // closed when the caller's bytes are needed no more; nil when buf is used
	flush  chan struct{} // closed when all packs before are uploaded; nil for a blob
	copied bool          // plain is stored as it is, and the entry says all about it
}

// NewWriter returns a writer. The context is that of all its uploads. The
// caller closes it.
func (r *Repo) NewWriter(ctx context.Context) *Writer {
	ctx, cancel := context.WithCancel(ctx)
	w := &Writer{
		repo: r, codec: r.keys(), encs: newEncoders(compressors), buffers: make(chan []byte, packsInMemory),
		free: make(chan *job, inFlight), work: make(chan *job, inFlight), order: make(chan *job, inFlight),
		uploads: make(chan upload), cancel: cancel, broken: make(chan struct{}), seen: map[ID]struct{}{}, sealed: map[ID]ID{},
	}
	for range inFlight {
		w.free <- &job{ready: make(chan struct{}, 1)}
	}
	for range packsInMemory {
		w.buffers <- nil
	}
	for range compressors {
		w.done.Go(w.compress)
	}
	w.done.Go(func() { w.pack(ctx) })
	w.done.Go(func() { w.upload(ctx) })
	return w
}

// Put stores a blob of any kind but pages, unless there is one of its id, and
// returns the id. The blob is stored when Flush has returned. The bytes may be
// used again when Put returns. When ctx ends while a blob of more than 256 KiB
// is on its way, the writer ends with it. Errors: invalid for another kind or
// too many bytes; refused when the repository is locked; conflict when its key
// has changed; that of the pack that could not be stored.
func (w *Writer) Put(ctx context.Context, kind Kind, plain []byte) (ID, error) {
	if !kind.valid() || kind == KindPages {
		return ID{}, amber.Errorf(amber.KindInvalid, "put blob", "", "unknown kind of blob %v", kind)
	}
	if err := w.mayPut(); err != nil {
		return ID{}, err
	}
	id := w.codec.current.blobID(kind, plain)
	return id, w.put(ctx, entry{id: id, kind: kind}, plain)
}

// PutPages stores a blob of pages, like [Writer.Put]. The digests are those of
// the pages, in order, and are not checked: with wrong digests the blob cannot
// be read. Errors: those of Put; invalid for a page size that SQLite does not
// have, or bytes that are not one page for each digest.
func (w *Writer) PutPages(ctx context.Context, pageSize int, digests []PageDigest, plain []byte) (ID, error) {
	shift, ok := pageShiftOf(pageSize)
	if !ok || len(digests) == 0 || len(plain) != pageSize*len(digests) {
		return ID{}, amber.Errorf(amber.KindInvalid, "put blob", "",
			"%d bytes for %d pages of %d", len(plain), len(digests), pageSize)
	}
	if err := w.mayPut(); err != nil {
		return ID{}, err
	}
	id := w.codec.current.pagesID(pageSize, digests)
	return id, w.put(ctx, entry{id: id, kind: KindPages, pageShift: shift}, plain)
}

func (w *Writer) put(ctx context.Context, e entry, plain []byte) error {
	if len(plain) > MaxBlobBytes {
		return amber.Errorf(amber.KindInvalid, "put blob", e.id.String(),
			"blob has %d bytes, want at most %d", len(plain), MaxBlobBytes)
	}
	e.plain = uint32(len(plain))
	return w.enqueue(ctx, e, plain, false)
}

// enqueue sends a blob on its way, unless it is known. Copied ones are stored as
// they are.
func (w *Writer) enqueue(ctx context.Context, e entry, b []byte, copied bool) error {
	if known, err := w.known(e.id); known || err != nil {
		return err
	}
	j, err := w.take(ctx)
	if err != nil {
		return err
	}
	j.copied = copied
	j.load(e, b)
	packed := j.packed
	sent, err := w.send(j)
	if !sent || packed == nil {
		return err
	}
	select {
	case <-packed:
	case <-ctx.Done():
		w.fail(ctx.Err())
		<-packed
	}
	return w.failure()
}

// mayPut says why nothing can be put.
func (w *Writer) mayPut() error {
	if w.codec.closed != nil {
		return damaged("put blob", "", w.codec.closed)
	}
	return w.stale()
}

// stale returns an error when the repository has another key than when the
// writer began: nothing new may lie under the old one, or under none.
func (w *Writer) stale() error {
	now := w.repo.keys()
	if now.name == w.codec.name && (now.closed == nil) == (w.codec.closed == nil) {
		return nil
	}
	return errKeyChanged("put blob", "")
}

// Sealed returns the digest of the stored bytes of an inner manifest that this
// writer has stored in an encrypted repository, for [Manifest.Sealed]. It is
// known when Flush has returned, and "" otherwise.
func (w *Writer) Sealed(id ID) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if sum, ok := w.sealed[id]; ok {
		return sum.String()
	}
	return ""
}

// known counts a blob that needs not be stored.
func (w *Writer) known(id ID) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.holds(id)
	if known && w.err == nil {
		w.report.Known++
	}
	return known, w.err
}

// take waits for a job at rest.
func (w *Writer) take(ctx context.Context) (*job, error) {
	select {
	case j := <-w.free:
		return j, nil
	case <-w.broken:
		return nil, w.failure()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// send starts a job. It is not sent when the writer has ended, or when a blob
// of the same id was faster.
func (w *Writer) send(j *job) (sent bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, seen := w.seen[j.entry.id]
	if w.err != nil || seen && j.flush == nil {
		if w.err == nil {
			w.report.Known++
		}
		w.rest(j)
		return false, w.err
	}
	if j.flush == nil {
		w.seen[j.entry.id] = struct{}{}
	}
	// Neither blocks: there are no more jobs than places.
	w.order <- j
	w.work <- j
	return true, nil
}

func (j *job) load(e entry, plain []byte) {
	j.entry = e
	if len(plain) > copyBytes {
		j.plain, j.packed = plain, make(chan struct{})
		return
	}
	j.buf = append(j.buf[:0], plain...)
	j.plain = j.buf
}

// rest gives a job back, without what is too large to keep with each.
func (w *Writer) rest(j *job) {
	out := j.out
	if cap(out) > 2*copyBytes {
		if large := out; cap(large) <= 2*FilePartBytes {
			w.outs.Put(&large)
		}
		out = nil
	}
	*j = job{buf: j.buf, out: out, ready: j.ready}
	w.free <- j
}

// forget gives up the memory of packs that were stored. It is allocated again
// when it is needed.
func (w *Writer) forget() {
	for range packsInMemory {
		select {
		case <-w.buffers:
			w.buffers <- nil
		default:
		}
	}
}

// Flush makes everything durable that was put before: it finishes the open
// pack, waits for all packs, and then writes an index object that names them.
// Nothing new, no object. When only the index object could not be written,
// Flush may be called again. Errors: that of the pack that could not be stored;
// those of the target.
func (w *Writer) Flush(ctx context.Context) (Report, error) {
	j, err := w.take(ctx)
	if err != nil {
		return Report{}, err
	}
	flushed := make(chan struct{})
	j.flush = flushed
	if _, err := w.send(j); err != nil {
		return Report{}, err
	}
	select {
	case <-flushed:
	case <-ctx.Done():
		return Report{}, ctx.Err()
	}
	if err := w.failure(); err != nil {
		return Report{}, err
	}
	w.forget() // most writers end now, and what they stored is read back
	if err := w.writeIndex(ctx); err != nil {
		return Report{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.report, nil
}

// writeIndex writes index objects for the packs that are in none.
func (w *Writer) writeIndex(ctx context.Context) error {
	w.indexed.Lock()
	defer w.indexed.Unlock()
	w.mu.Lock()
	packs := w.packs
	w.packs = nil
	w.mu.Unlock()
	sortPacks(packs)
	for len(packs) > 0 {
		n := groupOf(packs)
		if _, err := putIndex(ctx, w.repo.target, packs[:n]); err != nil {
			w.mu.Lock()
			w.packs = append(w.packs, packs...)
			w.mu.Unlock()
			return err
		}
		w.repo.add(packs[:n])
		packs = packs[n:]
	}
	return nil
}

// Close ends the writer and waits for what it has started. Blobs that were not flushed are not stored. It may be called
// twice and returns nil.
func (w *Writer) Close() error {
	w.fail(amber.Errorf(amber.KindInvalid, "write blobs", "", "the writer is closed"))
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.order)
		close(w.work)
	}
	w.mu.Unlock()
	w.done.Wait()
	return nil
}

// fail ends the writer, for the first reason given.
func (w *Writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	w.err = err
	close(w.broken)
	w.cancel()
}

func (w *Writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
