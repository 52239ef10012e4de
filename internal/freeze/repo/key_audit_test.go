package repo_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// takeNote takes a small snapshot: one note.
func (s *store) takeNote(t *testing.T, agent amber.AgentID, text string) repo.Manifest {
	t.Helper()
	w := s.repo.NewWriter(ctx)
	defer w.Close()
	size, parts, err := w.PutFile(ctx, strings.NewReader(text))
	must.Do(t, err)
	tree := must.Get(w.PutTree(ctx, []repo.TreeEntry{{Name: "a.md", Mode: repo.ModeFile, Size: size, Parts: parts}}))(t)
	tip := must.Get(s.catalog.Tip(ctx, agent, laptop))(t)
	m := repo.Manifest{
		ID: s.newID(t), Tenant: tenant, Agent: agent, Device: laptop, Counter: tip.Counter + 1, Parent: tip.Digest, ParentID: tip.ID, CreatedAt: s.at(),
	}
	m.Inner = must.Get(w.PutInner(ctx, repo.Inner{Label: text, Notes: &repo.FilesEntry{Tree: tree, Files: 1, Bytes: size}}))(t)
	must.Get(w.Flush(ctx))(t)
	m = s.sealed(w, m)
	must.Do(t, s.publish(m))
	return m
}

// TestEveryChangedByteOfAnEncryptedRepositoryIsFound flips a bit of every byte
// of every object. All of them are found with the key and without: packs and
// index objects are named by their digests, records have one.
func TestEveryChangedByteOfAnEncryptedRepositoryIsFound(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newEncrypted(t))
	gone, m := s.takeNote(t, ada, "gone"), s.takeNote(t, ada, "kept")
	s.takeNote(t, bob, "other")
	must.Do(t, s.catalog.SetPin(ctx, may(), ada, m.ID, true, s.at()))
	s.delete(t, gone)
	s.gc(t)
	must.Equal(t, "kinds of objects", kinds(target.names("")), []string{"condemned", "index", "keys", "packs", "pins", "snapshots", "stubs"})
	flipEveryByte(t, target, headsOf(t, s), map[string]*repo.Repo{"with the key": s.repo, "without": openAs(t, target)})
}

// TestObjectsOfAnEncryptedRepositoryThatAreMissingOrExchangedAreFound is the
// same for whole objects.
func TestObjectsOfAnEncryptedRepositoryThatAreMissingOrExchangedAreFound(t *testing.T) {
	t.Parallel()
	base := newEncrypted(t)
	s, _ := furnish(t, base)
	heads := headsOf(t, s)
	names := base.names("")
	find := func(what string, do func(o map[string][]byte)) {
		t.Helper()
		spoiled := base.clone()
		do(spoiled.objects)
		for who, r := range map[string]*repo.Repo{"with the key": open(t, spoiled), "without": openAs(t, spoiled)} {
			must.Equal(t, what+" passes "+who, auditOf(t, r, heads).OK(), false)
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, "packs/") || strings.HasPrefix(name, "snapshots/") || strings.HasPrefix(name, "keys/") {
			find(name+" missing", func(o map[string][]byte) { delete(o, name) })
		}
		find(name+" cut in half", func(o map[string][]byte) { o[name] = o[name][:len(o[name])/2] })
		for _, other := range names {
			if name != other {
				find(name+" over "+other, func(o map[string][]byte) { o[other] = o[name] })
			}
		}
	}
}

// forge is a pack of an encrypted repository that a person without the key may change: everything but what is sealed
// can be computed again.
type forge struct {
	name  string
	items []item
	data  [][]byte
}

func forgeOf(t *testing.T, target *memory, name string) *forge {
	t.Helper()
	b := target.objects[name]
	le := binary.LittleEndian
	foot := b[len(b)-64:]
	at, n := int(le.Uint64(foot)), int(le.Uint32(foot[8:]))
	f := &forge{name: name}
	for i := range n {
		e := b[at+i*52:]
		it := item{id: repo.ID(e[:32]), kind: e[32], compression: e[33], shift: e[34], zero: e[35], plain: le.Uint32(e[44:])}
		f.items = append(f.items, it)
		from, size := le.Uint32(e[36:]), le.Uint32(e[40:])
		f.data = append(f.data, bytes.Clone(b[from:from+size]))
	}
	return f
}

// write replaces the pack, and all index objects by one that knows the packs
// that are there.
func (f *forge) write(t *testing.T, target *memory) {
	t.Helper()
	var data, dir []byte
	for i, e := range f.items {
		e.offset, e.stored, e.checksum = uint32(32+len(data)), uint32(len(f.data[i])), crc(f.data[i])
		data = append(data, f.data[i]...)
		dir = append(dir, e.bytes()...)
	}
	delete(target.objects, f.name)
	target.storePack(packOf(data, dir))
	drop(target.objects, "index/")
	must.Do(t, open(t, target).Rebuild(ctx))
}

// find returns the number of the first blob of a kind.
func (f *forge) find(kind repo.Kind) int {
	return slices.IndexFunc(f.items, func(e item) bool { return e.kind == byte(kind) })
}

// TestWhatSomebodyWithoutTheKeyForgesIsFound changes sealed blobs and everything that is computed from them. With the
// key the audit finds all of it. Without the key it finds only changes of an inner manifest, which its manifest names
// by its stored bytes, blobs that are not sealed any more, and a key that is in no key record. The tests say which
// forgeries those are.
func TestWhatSomebodyWithoutTheKeyForgesIsFound(t *testing.T) {
	t.Parallel()
	base, s := storeOn(t, newEncrypted(t))
	m := s.take(t, ada, "a")
	tests := []struct {
		name string
		do   func(f *forge)
		open bool // found without the key
	}{
		{"a byte of a sealed file", func(f *forge) { f.data[f.find(repo.KindFile)][40] ^= 1 }, false},
		{"a nonce", func(f *forge) { f.data[f.find(repo.KindTree)][9] ^= 1 }, false},
		{"a tag", func(f *forge) { d := f.data[f.find(repo.KindGit)]; d[len(d)-1] ^= 1 }, false},
		{"another id", func(f *forge) {
			i, j := f.find(repo.KindFile), f.find(repo.KindFile)+1
			f.data[i], f.data[j] = f.data[j], f.data[i]
			f.items[i].plain, f.items[j].plain = f.items[j].plain, f.items[i].plain
			f.items[i].compression, f.items[j].compression = f.items[j].compression, f.items[i].compression
		}, false},
		{"another kind", func(f *forge) { f.items[f.find(repo.KindFile)].kind = byte(repo.KindGit) }, false},
		{"another compression", func(f *forge) {
			i := f.find(repo.KindPages)
			f.items[i].compression, f.items[i].plain, f.items[i].kind, f.items[i].shift = 0, uint32(len(f.data[i])-48), byte(repo.KindFile), 0
		}, false},
		{"not sealed", func(f *forge) {
			i := f.find(repo.KindFile)
			f.items[i].zero, f.items[i].compression, f.items[i].plain = 0, 0, uint32(len(f.data[i]))
		}, true},
		{"plain under a keyed id", func(f *forge) {
			i := f.find(repo.KindFile)
			f.data[i] = []byte("forged")
			f.items[i].zero, f.items[i].compression, f.items[i].plain = 0, 0, 6
		}, true},
		{"a key that nobody has", func(f *forge) { f.data[f.find(repo.KindFile)][0] ^= 1 }, true},
		{"a byte of the inner manifest", func(f *forge) { f.data[f.find(repo.KindManifest)][50] ^= 1 }, true},
		{"the nonce of the inner manifest", func(f *forge) { f.data[f.find(repo.KindManifest)][20] ^= 1 }, true},
		{"a plain inner manifest", func(f *forge) {
			i := f.find(repo.KindManifest)
			f.items[i].zero, f.items[i].compression, f.items[i].plain = 0, 0, uint32(len(f.data[i]))
		}, true},
		{"no inner manifest", func(f *forge) { f.items[f.find(repo.KindManifest)].id[0] ^= 1 }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target := base.clone()
			f := forgeOf(t, target, target.names("packs/")[0])
			tt.do(f)
			f.write(t, target)
			must.Equal(t, "passes with the key", auditAs(t, target, nil).OK(), false)
			must.Error(t, "it can be read", newStore(t, target).same(m))
			locked := openAs(t, target)
			must.Equal(t, "found without the key", !auditOf(t, locked, nil).OK(), tt.open)
			if inner := strings.Contains(tt.name, "inner"); inner {
				must.Kind(t, "sealed", locked.CheckSealed(ctx, m), amber.KindDamaged)
				must.Fail(open(t, target).Inner(ctx, m))(t, "inner", amber.KindDamaged)
			} else if err := locked.CheckSealed(ctx, m); err != nil {
				t.Error(err)
			}
		})
	}
	// Whatever is forged back is what it was.
	target := base.clone()
	forgeOf(t, target, target.names("packs/")[0]).write(t, target)
	if report := auditAs(t, target, nil); !report.OK() {
		t.Errorf("nothing was changed: %+v", report.Damaged)
	}
}

// TestTheAuditOfALockedRepositorySaysWhatItDidNotCheck compares every line.
func TestTheAuditOfALockedRepositorySaysWhatItDidNotCheck(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newMemory())
	plain := s.take(t, bob, "before")
	encrypt(t, target)
	s = s.again(t)
	a, b := s.take(t, ada, "a"), s.take(t, ada, "b")
	heads := headsOf(t, s)
	expect := []repo.ChainName{{Agent: ada, Device: laptop}, {Agent: bob, Device: laptop}}
	blobs, sealed := open(t, target).Blobs(), 0
	for _, name := range target.names("packs/") {
		for _, e := range forgeOf(t, target, name).items {
			sealed += int(e.zero)
		}
	}
	of := func(lines []string) (l []string) { // those that encryption is about
		for _, line := range lines {
			if strings.Contains(line, "pack") && !strings.Contains(line, "lists") || strings.Contains(line, "encrypted") ||
				strings.Contains(line, "snapshots") || strings.Contains(line, "key") || strings.Contains(line, "unused") || strings.Contains(line, "bytes") {
				l = append(l, line)
			}
		}
		return l
	}
	type told struct{ Checked, NotChecked []string }
	tests := []struct {
		name     string
		r        *repo.Repo
		readData bool
		want     told
	}{
		{"with the key", open(t, target), true, told{
			[]string{"1 key records", fmt.Sprintf("3 packs with %d blobs, every byte", blobs), "3 snapshots: every blob they need is looked for"}, nil,
		}},
		{"without", openAs(t, target), true, told{
			[]string{
				"1 key records", fmt.Sprintf("3 packs with %d blobs: stored bytes", blobs),
				"1 snapshots: every blob they need is looked for", "2 encrypted snapshots: stored bytes of the inner manifest",
			},
			[]string{
				fmt.Sprintf("contents of %d encrypted blobs: no identity opens the repository key", sealed),
				"contents of 2 encrypted snapshots: no identity opens the repository key",
				"unused space: not every snapshot could be read",
			},
		}},
		{"without, quickly", openAs(t, target), false, told{
			[]string{
				"1 key records", fmt.Sprintf("3 packs with %d blobs: sizes, directories", blobs),
				"1 snapshots: every blob they need is looked for", "2 encrypted snapshots: stored bytes of the inner manifest",
			},
			[]string{
				"the bytes of blobs were not read",
				"contents of 2 encrypted snapshots: no identity opens the repository key",
				"unused space: not every snapshot could be read",
			},
		}},
	}
	for _, tt := range tests {
		report, err := tt.r.Audit(ctx, tenant, tt.readData, heads.known, expect...)
		must.Hold(t, err == nil && report.OK() && report.Snapshots == 3, "%s: %v, %+v", tt.name, err, report)
		must.Equal(t, tt.name, told{of(report.Checked), of(report.NotChecked)}, tt.want)
	}
	s.whole(t, plain, a, b)
}

// TestReadBackAndCopyNeedNoKey is about processes that move packs.
func TestReadBackAndCopyNeedNoKey(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newEncrypted(t))
	m := s.take(t, ada, "a")
	locked := openAs(t, target)
	var packs []repo.ID
	avoid := map[repo.ID]bool{}
	for _, name := range target.names("packs/") {
		id := repo.ID(sha256.Sum256(target.objects[name]))
		packs, avoid[id] = append(packs, id), true
	}
	must.Do(t, locked.ReadBack(ctx, packs))
	in := must.Get(s.repo.Inner(ctx, m))(t)
	needed := []repo.ID{m.Inner}
	must.Do(t, s.repo.NeededBy(ctx, in, func(id repo.ID, _ repo.Kind) error { needed = append(needed, id); return nil }))
	w := writer(t, locked)
	w.Avoid(avoid)
	must.Do(t, w.Copy(ctx, needed))
	must.Get(w.Flush(ctx))(t)
	must.Do(t, locked.ReadBack(ctx, w.Written()))
	for id := range avoid {
		delete(target.objects, "packs/"+id.String()[:2]+"/"+id.String()+".pack")
	}
	must.Kind(t, "from the copies", s.again(t).same(m), "")
	must.NoError(t, locked.CheckSealed(ctx, m))
}
