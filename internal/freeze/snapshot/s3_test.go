package snapshot_test

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/s3"
	"github.com/amber-memory/amber/internal/test/must"
)

// bucket is an S3 server in this process with one bucket.
type bucket struct {
	t      *testing.T
	config s3.Config
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	b := &bucket{t: t}
	backend := s3mem.New()
	must.Do(t, backend.CreateBucket("memories"))
	server := httptest.NewServer(gofakes3.New(backend).Server())
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
