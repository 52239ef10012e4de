package repo_test

import (
	"bytes"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// A manifest that was remembered is read again: one that is damaged, replaced or gone by then is listed
// as what it is.
func TestRememberedManifestsAreStillRead(t *testing.T) {
	t.Parallel()
	on, s := storeOn(t, newMemory())
	var known repo.Manifests
	one, two := s.take(t, ada, "one"), s.take(t, ada, "two")
	list := func() map[amber.SnapshotID]repo.Entry {
		r := must.Get(repo.Open(ctx, on, &repo.Options{Manifests: &known}))(t)
		out := map[amber.SnapshotID]repo.Entry{}
		for _, e := range must.Get(r.Catalog(tenant).List(ctx, ada))(t) {
			out[e.Manifest.ID] = e
		}
		return out
	}
	first, second := list(), list()
	must.Equal(t, "snapshots", len(second), 2)
	for id, e := range first {
		must.Hold(t, second[id].Digest == e.Digest && second[id].Manifest == e.Manifest && second[id].Signature == e.Signature, "%+v was remembered as %+v", e, second[id])
	}
	name := func(m repo.Manifest) string { return "snapshots/" + string(ada) + "/" + string(m.ID) + ".json" }
	bad := bytes.Replace(on.objects[name(one)], []byte(`"label":"one"`), []byte(`"label":"two"`), 1)
	on.objects[name(one)] = bad
	must.Equal(t, "kind of what is wrong", amber.KindOf(list()[one.ID].Problem), amber.KindDamaged)
	// The whole manifest of another snapshot in its place was remembered, and is not believed.
	on.objects[name(one)] = on.objects[name(two)]
	must.Hold(t, list()[one.ID].Problem != nil, "the manifest of another snapshot is taken for its own")
	must.Do(t, on.Delete(ctx, name(two)))
	if _, ok := list()[two.ID]; ok {
		t.Error("a snapshot without a manifest is listed")
	}
}
