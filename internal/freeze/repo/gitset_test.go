package repo_test

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// gitBlob makes an object as git does.
func gitBlob(length int, content string) repo.GitObject {
	raw := fmt.Appendf(nil, "blob %d\x00%s", len(content), content)
	if length == 20 {
		sum := sha1.Sum(raw)
		return repo.GitObject{OID: hex.EncodeToString(sum[:]), Raw: raw}
	}
	sum := sha256.Sum256(raw)
	return repo.GitObject{OID: hex.EncodeToString(sum[:]), Raw: raw}
}

// storeGit adds objects to a set with one Flush.
func storeGit(t testing.TB, r *repo.Repo, base repo.ID, objects ...repo.GitObject) (repo.ID, repo.Report) {
	t.Helper()
	w := r.NewWriter(ctx)
	defer w.Close()
	g, err := w.NewGitSet(ctx, base)
	if err != nil || g.Based() == base.IsZero() {
		t.Fatalf("%v, based %v", err, g.Based())
	}
	had := map[string]bool{}
	for _, o := range objects {
		had[o.OID] = g.Has(o.OID)
		if err := g.Put(ctx, o); err != nil || !g.Has(o.OID) {
			t.Fatal(err)
		}
	}
	root, count, err := g.Finish(ctx)
	must.Do(t, err)
	report := must.Get(w.Flush(ctx))(t)
	if s, err := r.OpenGitSet(ctx, root); err != nil || s.Count() != count {
		t.Fatalf("%v, want %d objects", err, count)
	}
	return root, report
}

// isGit fails when a set has not exactly some objects.
func isGit(t testing.TB, r *repo.Repo, root repo.ID, want ...repo.GitObject) {
	t.Helper()
	left := map[string][]byte{}
	for _, o := range want {
		left[o.OID] = o.Raw
		if got, err := r.GitObject(ctx, root, o.OID); err != nil || !bytes.Equal(got.Raw, o.Raw) || got.OID != o.OID {
			t.Fatalf("%s: %v, %q", o.OID, err, got.Raw)
		}
	}
	objects := len(left)
	err := r.GitObjects(ctx, root, func(o repo.GitObject) error {
		if raw, ok := left[o.OID]; !ok || !bytes.Equal(raw, o.Raw) {
			t.Errorf("%s came, twice or for nothing", o.OID)
		}
		delete(left, o.OID)
		return nil
	})
	if err != nil || len(left) > 0 {
		t.Fatalf("%v, %d objects did not come", err, len(left))
	}
	count, seen := map[repo.Kind]int{}, map[repo.ID]bool{}
	err = r.GitBlobs(ctx, root, func(id repo.ID, kind repo.Kind) error {
		if l, ok := r.Find(id); !ok || l.Kind != kind || seen[id] {
			t.Errorf("blob %v of %v: found %v, seen %v", id, kind, ok, seen[id])
		}
		seen[id] = true
		count[kind]++
		return nil
	})
	must.Hold(t, err == nil && count[repo.KindGit] == objects, "%v, %v", err, count)
}

func TestGitObjectsComeBack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		for _, length := range []int{20, 32} {
			r := open(t, newMemory())
			empty, _ := storeGit(t, r, repo.ID{})
			isGit(t, r, empty)
			var all []repo.GitObject
			for i := range 600 {
				all = append(all, gitBlob(length, fmt.Sprint("note ", i)))
			}
			first, _ := storeGit(t, r, empty, all...)
			isGit(t, r, first, all...)
			same, report := storeGit(t, r, first, all[:5]...)
			must.Hold(t, same == first && report.New == 0, "nothing new: %+v", report)
			more := []repo.GitObject{gitBlob(length, "one more"), gitBlob(length, "")}
			second, report := storeGit(t, r, first, more...)
			if report.New > 5 { // two objects, two shards, the root
				t.Errorf("two new objects: %+v", report)
			}
			isGit(t, r, second, append(more, all...)...)
			isGit(t, r, first, all...)
			must.Fail(r.GitObject(ctx, first, more[0].OID))(t, "an object of another set", amber.KindNotFound)
			must.Fail(r.GitObject(ctx, first, "HEAD"))(t, "no id", amber.KindInvalid)
			clean(t, r)
		}
	})
}

func TestGitSetsDoNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	a, b, c := gitBlob(20, "a"), gitBlob(20, "b"), gitBlob(20, "c")
	r := open(t, newMemory())
	one, _ := storeGit(t, r, repo.ID{}, a, b, c)
	two, _ := storeGit(t, r, repo.ID{}, c, a, b, a)
	part, _ := storeGit(t, r, repo.ID{}, b)
	three, _ := storeGit(t, r, part, c, a)
	if diff := cmp.Diff([]repo.ID{one, one}, []repo.ID{two, three}); diff != "" {
		t.Error(diff)
	}
}

func TestGitObjectsThatLieAreRefused(t *testing.T) {
	t.Parallel()
	w := writer(t, open(t, newMemory()))
	g := must.Get(w.NewGitSet(ctx, repo.ID{}))(t)
	named := func(raw string) repo.GitObject {
		sum := sha1.Sum([]byte(raw))
		return repo.GitObject{OID: hex.EncodeToString(sum[:]), Raw: []byte(raw)}
	}
	good := gitBlob(20, "a")
	for name, o := range map[string]repo.GitObject{
		"no id":         {Raw: good.Raw},
		"upper case":    {OID: "ABCDEF0123ABCDEF0123ABCDEF0123ABCDEF0123", Raw: good.Raw},
		"other bytes":   {OID: good.OID, Raw: gitBlob(20, "b").Raw},
		"no header":     named("hello"),
		"no type":       named("note 1\x00a"),
		"wrong length":  named("blob 2\x00a"),
		"leading zeros": named("blob 01\x00a"),
		"empty":         named(""),
	} {
		if err := g.Put(ctx, o); amber.KindOf(err) != amber.KindInvalid || g.Has(o.OID) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must.Do(t, g.Put(ctx, good))
	must.Kind(t, "an id of another length", g.Put(ctx, gitBlob(32, "a")), amber.KindInvalid)
}

func TestAGitSetThatCannotBeReliedOnIsNotABase(t *testing.T) {
	t.Parallel()
	target := newMemory()
	objects := []repo.GitObject{gitBlob(20, "a"), gitBlob(20, "b")}
	base, _ := storeGit(t, open(t, target), repo.ID{}, objects...)
	tests := []struct {
		name   string
		change func(r *repo.Repo, m *memory, w *repo.Writer) repo.ID
	}{
		{"not there", func(*repo.Repo, *memory, *repo.Writer) repo.ID { return repo.ID{1} }},
		{"an object", func(*repo.Repo, *memory, *repo.Writer) repo.ID { return repo.BlobID(repo.KindGit, objects[0].Raw) }},
		{"to avoid", func(r *repo.Repo, _ *memory, w *repo.Writer) repo.ID {
			l, _ := r.Find(base)
			w.Avoid(map[repo.ID]bool{l.Pack: true})
			return base
		}},
		{"damaged", func(r *repo.Repo, m *memory, _ *repo.Writer) repo.ID {
			l, _ := r.Find(base)
			m.objects[m.names("packs/")[0]][l.Offset]++
			return base
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target := target.clone()
			r := open(t, target)
			w := writer(t, r)
			g, err := w.NewGitSet(ctx, tt.change(r, target, w))
			if err != nil || g.Based() || g.Has(objects[0].OID) {
				t.Fatalf("%v, based %v", err, g.Based())
			}
			for _, o := range objects {
				must.Do(t, g.Put(ctx, o))
			}
			root, _, err := g.Finish(ctx)
			if err != nil || root != base {
				t.Fatalf("%v, %v", err, root)
			}
			must.Get(w.Flush(ctx))(t)
			isGit(t, open(t, target), root, objects...)
		})
	}
}

// This is the format of sets once more, from the document.

func rawGit(version, flags uint32, kind, length, first, zero byte, count uint32, entries ...[]byte) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(le.AppendUint32([]byte("AmberGit"), version), flags)
	b = le.AppendUint32(append(b, kind, length, first, zero), count)
	return append(b, bytes.Join(entries, nil)...)
}

func rawShardRef(first byte, count uint32, id repo.ID) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte{first, 0, 0, 0}, count), id[:]...)
}

func rawGitEntry(o repo.GitObject, id repo.ID) []byte {
	b, _ := hex.DecodeString(o.OID)
	return append(b, id[:]...)
}

func TestHostileGitSetsAreDamage(t *testing.T) {
	t.Parallel()
	a, b := gitBlob(20, "a"), gitBlob(20, "f") // 2e65… and 4d1a…
	idA, idB := repo.BlobID(repo.KindGit, a.Raw), repo.BlobID(repo.KindGit, b.Raw)
	lie := sample{repo.KindGit, 0, []byte("blob 1\x00z")}
	noObject := sample{repo.KindGit, 0, []byte("z")}
	sum := sha1.Sum(noObject.data)
	short := repo.GitObject{OID: hex.EncodeToString(sum[:])}
	A, B := rawGitEntry(a, idA), rawGitEntry(b, idB)
	shard := func(first byte, count uint32, entries ...[]byte) []byte {
		return rawGit(1, 0, 2, 20, first, 0, count, entries...)
	}
	root := func(entries ...[]byte) []byte { return rawGit(1, 0, 1, 20, 0, 0, uint32(len(entries)), entries...) }
	goodShard := shard(0x2e, 1, A)
	ref := func(shard []byte) []byte { return rawShardRef(0x2e, 1, repo.BlobID(repo.KindTree, shard)) }
	tests := []struct {
		name  string
		shard []byte
		root  []byte // nil: names the shard
		kind  amber.Kind
	}{
		{"in order", goodShard, nil, ""},
		{"nothing", goodShard, []byte{}, amber.KindDamaged},
		{"version 2", goodShard, rawGit(2, 0, 1, 20, 0, 0, 1, ref(goodShard)), amber.KindTooNew},
		{"flags", goodShard, rawGit(1, 9, 1, 20, 0, 0, 1, ref(goodShard)), amber.KindTooNew},
		{"a shard as root", goodShard, goodShard, amber.KindDamaged},
		{"ids of 21 bytes", goodShard, rawGit(1, 0, 1, 21, 0, 0, 1, ref(goodShard)), amber.KindDamaged},
		{"ids of 32 bytes", goodShard, rawGit(1, 0, 1, 32, 0, 0, 1, ref(goodShard)), amber.KindDamaged},
		{"ids of an empty set", goodShard, rawGit(1, 0, 1, 20, 0, 0, 0), amber.KindDamaged},
		{"not zero", goodShard, rawGit(1, 0, 1, 20, 0, 1, 1, ref(goodShard)), amber.KindDamaged},
		{"a first byte of the root", goodShard, rawGit(1, 0, 1, 20, 1, 0, 1, ref(goodShard)), amber.KindDamaged},
		{"all of 32 bits", goodShard, rawGit(1, 0, 1, 20, 0, 0, 1<<32-1, ref(goodShard)), amber.KindDamaged},
		{"a byte more", goodShard, append(root(ref(goodShard)), 0), amber.KindDamaged},
		{"shards out of order", goodShard, root(rawShardRef(0x4d, 1, idB), ref(goodShard)), amber.KindDamaged},
		{"a shard twice", goodShard, root(ref(goodShard), ref(goodShard)), amber.KindDamaged},
		{"a shard for two bytes", goodShard, root(ref(goodShard), rawShardRef(0x4d, 1, repo.BlobID(repo.KindTree, goodShard))), amber.KindDamaged},
		{"a shard of nothing", goodShard, root(rawShardRef(0x2e, 0, idA)), amber.KindDamaged},
		{"too many objects", goodShard, root(rawShardRef(0x2e, 1<<32-1, idA)), amber.KindDamaged},
		{"a shard that is not there", goodShard, root(rawShardRef(0x2e, 1, repo.ID{1})), amber.KindNotFound},
		{"an object as a shard", goodShard, root(rawShardRef(0x2e, 1, idA)), amber.KindDamaged},
		{"another number of objects", shard(0x2e, 2, A, A), nil, amber.KindDamaged},
		{"fewer objects", shard(0x2e, 1), nil, amber.KindDamaged},
		{"another first byte", shard(0x4d, 1, B), nil, amber.KindDamaged},
		{"an object of another shard", shard(0x2e, 1, B), nil, amber.KindDamaged},
		{"an object twice", shard(0x2e, 2, A, A), root(rawShardRef(0x2e, 2, repo.BlobID(repo.KindTree, shard(0x2e, 2, A, A)))), amber.KindDamaged},
		{"a root as shard", root(), nil, amber.KindDamaged},
		{"another object", shard(0x2e, 1, rawGitEntry(a, lie.id())), nil, amber.KindDamaged},
		{"a tree as object", shard(0x2e, 1, rawGitEntry(a, repo.BlobID(repo.KindTree, goodShard))), root(ref(shard(0x2e, 1, rawGitEntry(a, repo.BlobID(repo.KindTree, goodShard))))), amber.KindDamaged},
		{"not the form of an object", shard(sum[0], 1, rawGitEntry(short, noObject.id())), root(rawShardRef(sum[0], 1, repo.BlobID(repo.KindTree, shard(sum[0], 1, rawGitEntry(short, noObject.id()))))), amber.KindDamaged},
		{"an object that is not there", shard(0x2e, 1, rawGitEntry(a, repo.ID{1})), nil, amber.KindNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rootBytes := tt.root
			if rootBytes == nil {
				rootBytes = root(ref(tt.shard))
			}
			target := newMemory()
			top := sample{repo.KindTree, 0, rootBytes}
			fill(t, open(t, target), sample{repo.KindGit, 0, a.Raw}, sample{repo.KindGit, 0, b.Raw}, lie, noObject,
				sample{repo.KindTree, 0, goodShard}, sample{repo.KindTree, 0, tt.shard}, top)
			r := open(t, target)
			must.Kind(t, "", r.GitObjects(ctx, top.id(), func(repo.GitObject) error { return nil }), tt.kind)
			if _, err := r.GitObject(ctx, top.id(), a.OID); err == nil && tt.kind != "" && tt.name != "a shard for two bytes" {
				t.Errorf("the object was read")
			}
		})
	}
}

// FuzzGitSet reads any bytes as the root and a shard of a set.
func FuzzGitSet(f *testing.F) {
	a := gitBlob(20, "a")
	blob := sample{repo.KindGit, 0, a.Raw}
	shard := rawGit(1, 0, 2, 20, 0x2e, 0, 1, rawGitEntry(a, blob.id()))
	f.Add(shard, rawGit(1, 0, 1, 20, 0, 0, 1, rawShardRef(0x2e, 1, repo.ID{}))[24:], byte(20), uint32(1))
	f.Add(shard, []byte{}, byte(0), uint32(0))
	f.Fuzz(func(t *testing.T, shard, entries []byte, length byte, count uint32) {
		id := repo.BlobID(repo.KindTree, shard)
		if len(entries) >= 40 {
			entries = append([]byte{}, entries...)
			copy(entries[8:], id[:]) // so that the shard is found
		}
		target := newMemory()
		root := sample{repo.KindTree, 0, rawGit(1, 0, 1, length, 0, 0, count, entries)}
		fill(t, open(t, target), blob, sample{repo.KindTree, 0, shard}, root)
		r := open(t, target)
		err := r.GitObjects(ctx, root.id(), func(o repo.GitObject) error {
			must.Hold(t, o.OID == a.OID && bytes.Equal(o.Raw, a.Raw), "an object that is not there: %s", o.OID)
			return nil
		})
		k := amber.KindOf(err)
		if err != nil && k != amber.KindDamaged && k != amber.KindNotFound && k != amber.KindTooNew {
			t.Error(err)
		}
		_ = r.GitBlobs(ctx, root.id(), func(repo.ID, repo.Kind) error { return nil })
		w := writer(t, r)
		g, nerr := w.NewGitSet(ctx, root.id())
		if nerr != nil && amber.KindOf(nerr) != amber.KindTooNew || err == nil && !g.Based() {
			t.Errorf("as a base: %v", nerr)
		}
	})
}
