package repo_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// furnished is a repository that has every kind of object: snapshots of two
// agents, a stub, a pin, a condemned pack.
func furnished(t testing.TB) (s *store, kept []repo.Manifest) {
	t.Helper()
	return furnish(t, newMemory())
}

// furnish is furnished for any target.
func furnish(t testing.TB, target *memory) (s *store, kept []repo.Manifest) {
	t.Helper()
	s = newStore(t, target)
	gone := s.takeContent(t, ada, content{"gone", 0})
	kept = []repo.Manifest{s.takeContent(t, ada, content{"kept", 0}), s.takeContent(t, bob, content{"other", 0})}
	must.Do(t, s.catalog.SetPin(ctx, may(), ada, kept[0].ID, true, s.at()))
	s.delete(t, gone)
	s.gc(t)
	s.whole(t, kept...)
	return s, kept
}

func kinds(names []string) []string {
	var l []string
	for _, name := range names {
		kind, _, _ := strings.Cut(name, "/")
		l = append(l, kind)
	}
	slices.Sort(l)
	return slices.Compact(l)
}

// auditAs audits with the heads that were known before something happened.
func auditAs(t testing.TB, target target.Target, heads heads) wire.CheckReport {
	t.Helper()
	return auditOf(t, open(t, target), heads)
}

func auditOf(t testing.TB, r *repo.Repo, heads heads) wire.CheckReport {
	t.Helper()
	expect := []repo.ChainName{{Agent: ada, Device: laptop}, {Agent: bob, Device: laptop}}
	return must.Get(r.Audit(ctx, tenant, true, heads.known, expect...))(t)
}

// heads are the ends of chains that are known, by agent and device.
type heads map[string]repo.Link

func (h heads) known(agent amber.AgentID, device string) (repo.Link, bool) {
	l, ok := h[string(agent)+" "+device]
	return l, ok
}

func headsOf(t testing.TB, s *store) heads {
	t.Helper()
	heads := heads{}
	for _, agent := range []amber.AgentID{ada, bob} {
		heads[string(agent)+" "+laptop] = must.Get(s.catalog.Tip(ctx, agent, laptop))(t)
	}
	return heads
}

// TestEveryChangedByteOfARepositoryIsFound flips a bit of every byte of every
// object.
func TestEveryChangedByteOfARepositoryIsFound(t *testing.T) {
	t.Parallel()
	s, _ := furnished(t)
	target := s.target.(*memory)
	must.Equal(t, "kinds of objects", kinds(target.names("")), []string{"condemned", "index", "packs", "pins", "snapshots", "stubs"})
	flipEveryByte(t, target, headsOf(t, s), map[string]*repo.Repo{"in plain": s.repo})
}

// flipEveryByte flips a bit of every byte of every object, a stride apart; each of the readers
// finds it.
func flipEveryByte(t *testing.T, target *memory, heads heads, readers map[string]*repo.Repo) {
	t.Helper()
	flips, step := 0, *stride
	if raceEnabled || testing.Short() {
		step = max(11, step)
	}
	for _, name := range target.names("") {
		object := target.objects[name]
		for i := 0; i < len(object); i += step {
			object[i] ^= 1 << (i % 8)
			for who, r := range readers {
				must.Equal(t, fmt.Sprintf("%s byte %d passes %s", name, i, who), auditOf(t, r, heads).OK(), false)
			}
			object[i] ^= 1 << (i % 8)
			flips++
			target.calls = nil
		}
	}
	t.Logf("%d flips in %d objects", flips, len(target.objects))
	for who, r := range readers {
		if report := auditOf(t, r, heads); !report.OK() {
			t.Errorf("put right again, %s: %+v", who, report.Damaged)
		}
	}
}

// TestEveryBitOfAManifestMatters flips each of them.
func TestEveryBitOfAManifestMatters(t *testing.T) {
	t.Parallel()
	s, kept := furnished(t)
	object := s.target.(*memory).objects[manifestOf(kept[0])]
	for i := range object {
		for bit := range 8 {
			object[i] ^= 1 << bit
			must.Fail(s.catalog.Get(ctx, ada, kept[0].ID))(t, fmt.Sprintf("byte %d bit %d", i, bit), amber.KindDamaged)
			object[i] ^= 1 << bit
		}
	}
}

// TestObjectsThatAreMissingCutOrInAnotherPlaceAreFound does to every object, or
// pair of objects, what accidents do.
func TestObjectsThatAreMissingCutOrInAnotherPlaceAreFound(t *testing.T) {
	t.Parallel()
	s, _ := furnished(t)
	target := s.target.(*memory)
	heads := headsOf(t, s)
	names := target.names("")
	find := func(what string, do func(o map[string][]byte)) {
		t.Helper()
		spoiled := target.clone()
		do(spoiled.objects)
		must.Equal(t, what+" passes", auditAs(t, spoiled, heads).OK(), false)
	}
	for _, name := range names {
		// The audit cannot notice that a pin or a list of condemned packs is gone, because no other object names them.
		// Nor is it damage when a pack that no snapshot needs loses its index object.
		if !strings.HasPrefix(name, "pins/") && !strings.HasPrefix(name, "condemned/") && !unneededIndex(target, name) {
			find(name+" missing", func(o map[string][]byte) { delete(o, name) })
			find(name+" renamed", func(o map[string][]byte) { o[name+".old"] = o[name]; delete(o, name) })
		}
		find(name+" empty", func(o map[string][]byte) { o[name] = nil })
		find(name+" cut in half", func(o map[string][]byte) { o[name] = o[name][:len(o[name])/2] })
		find(name+" one byte short", func(o map[string][]byte) { o[name] = o[name][:len(o[name])-1] })
		find(name+" one byte longer", func(o map[string][]byte) { o[name] = append(o[name], '\n') })
		find(name+" zeros", func(o map[string][]byte) { o[name] = make([]byte, len(o[name])) })
		for _, other := range names {
			if name < other {
				find(name+" and "+other+" exchanged", func(o map[string][]byte) { o[name], o[other] = o[other], o[name] })
			}
			if name != other {
				find(name+" over "+other, func(o map[string][]byte) { o[other] = o[name] })
			}
		}
	}
}

// unneededIndex reports whether nothing is missing without an index object.
func unneededIndex(target *memory, name string) bool {
	if !strings.HasPrefix(name, "index/") {
		return false
	}
	c := target.clone()
	delete(c.objects, name)
	r, err := repo.Open(ctx, c, nil)
	if err != nil {
		return false
	}
	_, err = r.CollectGarbage(ctx, may(), repo.GCOptions{Tenant: tenant, Now: func() time.Time { return epoch }, DryRun: true})
	return err == nil
}

func TestAManifestOfAnotherAgentOrTenantIsFound(t *testing.T) {
	t.Parallel()
	s, kept := furnished(t)
	target := s.target.(*memory)
	for _, prefix := range []string{"snapshots/", "stubs/", "pins/"} {
		name := target.names(prefix)[0]
		copied := target.clone()
		copied.objects[strings.Replace(name, "/ada/", "/bob/", 1)] = copied.objects[name]
		must.Hold(t, !auditAs(t, copied, nil).OK(), "%s of another agent: not found", prefix)
	}
	if foreign := must.Get(s.repo.Audit(ctx, "evil", true, nil))(t); len(foreign.Damaged) < len(kept) {
		t.Errorf("the repository of another tenant: %+v", foreign)
	}
}

func TestStraysAreNamedAndAreNoDamage(t *testing.T) {
	t.Parallel()
	s, kept := furnished(t)
	target := s.target.(*memory)
	strays := []string{"readme.txt", "snapshots/notes.txt", "packs/aa/x", "index/x.idx", "condemned/x.json", "pins/ada/x.json", "stubs/ada/deep/x.json", "other/x"}
	for _, name := range strays {
		target.objects[name] = []byte("x")
	}
	target.objects[".lock"] = nil
	r := auditAs(t, target, headsOf(t, s))
	must.Hold(t, r.OK() && len(r.NotChecked) == len(strays), "%+v", r)
	for _, name := range strays {
		if !slices.ContainsFunc(r.NotChecked, func(l string) bool { return strings.HasPrefix(l, name+": ") }) {
			t.Errorf("%s is not named", name)
		}
	}
	for _, m := range kept {
		must.NoError(t, s.again(t).same(m))
	}
}

func TestDamageNamesTheSnapshotsItTouches(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newMemory())
	a := s.take(t, ada, "a") // its pack holds what both have in common
	packs := target.names("packs/")
	b := s.take(t, ada, "b")
	own := slices.DeleteFunc(target.names("packs/"), func(n string) bool { return slices.Contains(packs, n) })
	touched := func(r wire.CheckReport) (ids []amber.SnapshotID) {
		for _, d := range r.Damaged {
			ids = append(ids, d.Snapshots...)
		}
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	both := []amber.SnapshotID{a.ID, b.ID}
	tests := []struct {
		name string
		do   func(o map[string][]byte)
		want []amber.SnapshotID
	}{
		{"the pack of the second", func(o map[string][]byte) { delete(o, own[0]) }, both[1:]},
		{"the pack of both", func(o map[string][]byte) { delete(o, packs[0]) }, both},
		{"the end of the pack of both", func(o map[string][]byte) { o[packs[0]][len(o[packs[0]])-1] ^= 1 }, both},
		{"the word of the first", func(o map[string][]byte) {
			at := bytes.Index(o[packs[0]], []byte("blob 1\x00a"))
			if at < 0 {
				t.Fatal("the git object is not there in plain")
			}
			o[packs[0]][at+7] ^= 1
		}, both[:1]},
		{"the manifest of the first", func(o map[string][]byte) { o[manifestOf(a)][50] ^= 1 }, both[:1]},
		{"all index objects", func(o map[string][]byte) { drop(o, "index/") }, both},
	}
	for _, tt := range tests {
		spoiled := target.clone()
		tt.do(spoiled.objects)
		r := auditAs(t, spoiled, nil)
		must.Equal(t, tt.name, touched(r), tt.want)
	}
}

func TestTheAuditSaysWhatItDidNotLookAt(t *testing.T) {
	t.Parallel()
	s, kept := furnished(t)
	target := s.target.(*memory)
	r, err := s.repo.Audit(ctx, tenant, false, nil)
	if err != nil || !r.OK() || r.DataRead {
		t.Fatalf("%v, %+v", err, r)
	}
	want := []string{
		"chain of agent ada, device laptop: tail not checked: no known head",
		"chain of agent bob, device laptop: tail not checked: no known head",
		"the bytes of blobs were not read",
	}
	must.Equal(t, "not checked", r.NotChecked, want)
	must.Hold(t, r.Snapshots == 2 && r.Unused != 0, "%+v", r)
	target.objects[manifestOf(kept[0])] = envelope(`{"format":"amber-snapshot","version":9}`)
	r = auditAs(t, target, nil)
	if !r.OK() || !slices.ContainsFunc(r.NotChecked, func(l string) bool { return strings.Contains(l, "version 9 of amber-snapshot") }) || r.Unused != 0 {
		t.Errorf("a newer manifest: %+v", r)
	}
}

// TestDamageIsListedUpToABound damages more than is listed.
func TestDamageIsListedUpToABound(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		target, s := storeOn(t, newMemory())
		w := s.repo.NewWriter(ctx)
		var entries []repo.TreeEntry
		for i := range 1500 {
			size, parts, err := w.PutFile(ctx, strings.NewReader(fmt.Sprint("file ", i)))
			must.Do(t, err)
			entries = append(entries, repo.TreeEntry{Name: fmt.Sprint(i), Mode: repo.ModeFile, Size: size, Parts: parts})
		}
		must.Get(w.Flush(ctx))(t)
		lost := slices.Concat(target.names("index/"), target.names("packs/"))
		tree := must.Get(w.PutTree(ctx, entries))(t)
		inner := must.Get(w.PutInner(ctx, repo.Inner{Notes: &repo.FilesEntry{Tree: tree, Files: 1500}}))(t)
		must.Get(w.Flush(ctx))(t)
		_ = w.Close()
		m := s.sealed(w, repo.Manifest{ID: s.newID(t), Tenant: tenant, Agent: ada, Device: laptop, Counter: 1, CreatedAt: s.at(), Inner: inner})
		must.Do(t, s.publish(m))
		for _, name := range lost {
			delete(target.objects, name)
		}
		r := auditAs(t, target, nil)
		must.Equal(t, "the number of damaged things", len(r.Damaged), 1001)
		last := r.Damaged[len(r.Damaged)-1]
		must.Hold(t, strings.Contains(last.Reason, "499 more") && len(last.Snapshots) == 1, "%+v", last)
	})
}
