package repo_test

import (
	"bytes"
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/test/must"
)

var (
	update = flag.Bool("update", false, "write testdata")
	stride = flag.Int("repo.stride", 4, "every how many bytes one is changed; 1: each byte, and each call is cut or fails")
)

// callStride is how far apart the calls are that are cut or fail.
func callStride() int { return 1 + *stride/4 }

var ctx = context.Background()

// sample is a blob and where it comes from.
type sample struct {
	kind     repo.Kind
	pageSize int
	data     []byte
}

// text returns n bytes that compress well, noise n bytes that do not.
func text(seed uint64, n int) []byte {
	words := []string{"amber ", "keeps ", "what ", "was ", "said ", "\n"}
	r := rand.New(rand.NewPCG(seed, 1))
	var b []byte
	for len(b) < n {
		b = append(b, words[r.IntN(len(words))]...)
	}
	return b[:n]
}

func noise(seed uint64, n int) []byte {
	var key [32]byte
	key[0], key[1], key[2] = byte(seed), byte(seed>>8), byte(seed>>16)
	b := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(b)
	return b
}

func digests(pageSize int, data []byte) []repo.PageDigest {
	var d []repo.PageDigest
	for page := range slices.Chunk(data, pageSize) {
		d = append(d, repo.DigestPage(page))
	}
	return d
}

func (s sample) id() repo.ID {
	if s.kind == repo.KindPages {
		return repo.PagesID(s.pageSize, digests(s.pageSize, s.data))
	}
	return repo.BlobID(s.kind, s.data)
}

// in returns the id of a sample in a repository, which may be encrypted.
func (s sample) in(r *repo.Repo) repo.ID {
	if s.kind == repo.KindPages {
		return r.PagesID(s.pageSize, digests(s.pageSize, s.data))
	}
	return r.BlobID(s.kind, s.data)
}

func (s sample) put(ctx context.Context, w *repo.Writer) (repo.ID, error) {
	if s.kind == repo.KindPages {
		return w.PutPages(ctx, s.pageSize, digests(s.pageSize, s.data), s.data)
	}
	return w.Put(ctx, s.kind, s.data)
}

func open(t testing.TB, target target.Target) *repo.Repo {
	t.Helper()
	return openAs(t, target, alice)
}

// openOn returns a target and the repository on it.
func openOn[T target.Target](t testing.TB, on T) (T, *repo.Repo) {
	t.Helper()
	return on, open(t, on)
}

// putAll hands samples to a writer.
func putAll(t testing.TB, w *repo.Writer, samples ...sample) {
	t.Helper()
	for _, s := range samples {
		must.Get(s.put(ctx, w))(t)
	}
}

// writer returns a writer that is closed when the test ends.
func writer(t testing.TB, r *repo.Repo) *repo.Writer {
	t.Helper()
	w := r.NewWriter(ctx)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// fill stores samples with one Flush.
func fill(t testing.TB, r *repo.Repo, samples ...sample) repo.Report {
	t.Helper()
	w := r.NewWriter(ctx)
	defer w.Close()
	for _, s := range samples {
		id := must.Get(s.put(ctx, w))(t)
		if id != s.in(r) {
			t.Fatalf("put said %v, want %v", id, s.in(r))
		}
	}
	return must.Get(w.Flush(ctx))(t)
}

// few are blobs of every kind, small ones.
func few() []sample {
	return []sample{
		{repo.KindPages, 512, text(1, 2048)},
		{repo.KindFile, 0, []byte("short")},
		{repo.KindMap, 0, text(2, 600)},
		{repo.KindTree, 0, noise(3, 70)},
		{repo.KindGit, 0, text(4, 300)},
		{repo.KindFile, 0, nil},
		{repo.KindManifest, 0, []byte(`{"format":1}`)},
	}
}

func ids(samples []sample) []repo.ID {
	var l []repo.ID
	for _, s := range samples {
		l = append(l, s.id())
	}
	return l
}

// sameBlob fails when what was read is not what was put.
func sameBlob(t testing.TB, r *repo.Repo, got repo.Blob, want sample) {
	t.Helper()
	if got.ID != want.in(r) || got.Key != r.KeyID() || got.Kind != want.kind || got.PageSize != want.pageSize || !bytes.Equal(got.Data, want.data) {
		t.Errorf("blob %v of %v with %d bytes is not the one that was put", got.ID, got.Kind, len(got.Data))
	}
	if want.kind == repo.KindPages && !slices.Equal(got.Digests, digests(want.pageSize, want.data)) {
		t.Errorf("blob %v has other page digests", got.ID)
	}
}

// readAll reads samples in both ways.
func readAll(t testing.TB, r *repo.Repo, samples []sample) {
	t.Helper()
	want := map[repo.ID]sample{}
	var list []repo.ID
	for _, s := range samples {
		want[s.in(r)] = s
		list = append(list, s.in(r))
		b := must.Get(r.Get(ctx, s.in(r)))(t)
		sameBlob(t, r, b, s)
	}
	err := r.Read(ctx, list, func(b repo.Blob) error {
		s, ok := want[b.ID]
		must.Hold(t, ok, "blob %v was not asked for, or came twice", b.ID)
		sameBlob(t, r, b, s)
		delete(want, b.ID)
		return nil
	})
	if err != nil || len(want) > 0 {
		t.Fatalf("read: %v, %d blobs did not come", err, len(want))
	}
}

// clean fails when a check finds anything.
func clean(t testing.TB, r *repo.Repo) repo.CheckReport {
	t.Helper()
	c, err := r.Check(ctx, true)
	if err != nil || !c.OK() || len(c.Unindexed) > 0 {
		t.Fatalf("check: %v, %+v", err, c)
	}
	return c
}
