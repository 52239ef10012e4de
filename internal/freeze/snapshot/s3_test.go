package snapshot_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/s3"
	"github.com/amber-memory/amber/internal/test/must"
)

// bucket is an S3 server in this process with one bucket. It counts the bytes
// that are sent to it, and hangs up once it has had enough of them.
type bucket struct {
	t      *testing.T
	config s3.Config
	sent   atomic.Int64
	enough atomic.Int64 // 0: never
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	b := &bucket{t: t}
	backend := s3mem.New()
	must.Do(t, backend.CreateBucket("memories"))
	inside := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			n := b.sent.Add(max(r.ContentLength, 0))
			if most := b.enough.Load(); most > 0 && n > most {
				panic(http.ErrAbortHandler) // the line is dead
			}
		}
		inside.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b.config = must.Get(s3.ParseURL("s3:" + server.URL + "/memories/amber?region=us-east-1&path_style=true"))(t)
	return b
}

// open returns the target of a tenant.
func (b *bucket) open(ctx context.Context, tenant amber.TenantID) (target.Target, error) {
	c := b.config
	c.Prefix += "/" + string(tenant)
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
	return s3.Open(ctx, c, s3.Options{Getenv: func(name string) string { return keys[name] }, Attempts: 2})
}

func (b *bucket) target() target.Target {
	b.t.Helper()
	return must.Get(b.open(b.t.Context(), "default"))(b.t)
}

func (b *bucket) remote(o *snapshot.Options) {
	o.Remote = &snapshot.Remote{Name: b.config.String(), Open: b.open}
}

func TestTwoMachinesCopyIntoOneBucketAtOnce(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	var wg sync.WaitGroup
	var ids [2]amber.SnapshotID
	var want [2]everything
	for i := range ids {
		w := newWorld(t)
		plant(w)
		w.remember(strings.Repeat("machine ", i+1))
		ids[i], want[i] = w.snapshot().ID, w.all()
		wg.Go(func() {
			must.NoError(t, must.Err(w.engine.CopyTo(context.WithoutCancel(t.Context()), "default", b.target(), false)))
		})
	}
	wg.Wait()
	for i, id := range ids {
		w := newWorld(t, b.remote)
		w.mustCheck()
		w.mustVerify(id)
		w.restore(id)
		w.mustBe(want[i])
	}
}

func TestACopyThatWasCutOffSendsOnlyTheRest(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	w := newWorld(t)
	for i := range 8 {
		w.note(fmt.Sprint("noise-", i), gibberish(1<<19, byte(i)))
	}
	meta := w.snapshot()
	b.enough.Store(6 << 20)
	first, err := w.engine.CopyTo(t.Context(), "default", b.target(), false)
	if amber.KindOf(err) != amber.KindUnreachable {
		t.Fatalf("a dead line: %+v, %v", first, err)
	}
	b.enough.Store(0)
	there := map[string]bool{}
	must.Do(t, b.target().List(t.Context(), "", func(o target.Object) error { there[o.Name] = true; return nil }))
	rest := must.Get(w.engine.CopyTo(t.Context(), "default", b.target(), false))(t)
	if len(there) == 0 || rest.ObjectsPresent < len(there) {
		t.Errorf("%d objects were there, and the rest is %+v", len(there), rest)
	}
	if again := must.Get(w.engine.CopyTo(t.Context(), "default", b.target(), false))(t); again.Objects != 0 || again.Bytes != 0 {
		t.Errorf("a third copy sends %+v", again)
	}
	far := newWorld(t, b.remote)
	far.mustVerify(meta.ID)
	far.mustCheck()
}

// gibberish is text that does not compress.
func gibberish(n int, seed byte) string {
	var s strings.Builder
	r := rand.NewChaCha8([32]byte{seed})
	for s.Len() < n {
		var b [60]byte
		_, _ = io.ReadFull(r, b[:])
		for _, c := range b {
			s.WriteByte(' ' + c%94)
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// An engine whose repository is a bucket does everything there.
func TestARepositoryLivesInABucket(t *testing.T) {
	t.Parallel()
	b, ann := newBucket(t), newPerson(t)
	w := newWorld(t, b.remote, func(o *snapshot.Options) { o.Keys.Recipients = []string{ann.recipient} })
	plant(w)
	before := w.all()
	meta := w.snapshot()
	w.remember("later")
	w.snapshot()
	w.restore(meta.ID)
	w.mustBe(before)
	w.mustCheck()
	w.gc()
	w.mustVerify(meta.ID)
	for _, m := range markers {
		_ = b.target().List(t.Context(), "", func(o target.Object) error {
			r, err := b.target().Get(t.Context(), o.Name, 0, -1)
			if err != nil {
				return err
			}
			defer r.Close()
			all, err := io.ReadAll(r)
			must.Hold(t, !strings.Contains(string(all), m) && !strings.Contains(o.Name, m), "%s holds %s", o.Name, m)
			return err
		})
	}
}
