package repo_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// neverWrong reads every sample: it comes back as it was, or as an error that
// says damaged or not found.
func neverWrong(t *testing.T, r *repo.Repo, samples []sample) (lost int) {
	t.Helper()
	for _, s := range samples {
		b, err := r.Get(ctx, s.id())
		switch amber.KindOf(err) {
		case "":
			sameBlob(t, r, b, s)
		case amber.KindDamaged, amber.KindNotFound:
			lost++
		default:
			t.Errorf("get: %v", err)
		}
	}
	err := r.Read(ctx, ids(samples), func(b repo.Blob) error {
		for _, s := range samples {
			if s.id() == b.ID {
				sameBlob(t, r, b, s)
			}
		}
		return nil
	})
	must.Hold(t, (err == nil) == (lost == 0), "read: %v, with %d blobs lost", err, lost)
	return lost
}

func TestEveryChangedByteIsFoundAndNothingWrongIsRead(t *testing.T) {
	t.Parallel()
	target := newMemory()
	samples := few()
	old := open(t, target)
	fill(t, old, samples...)
	for _, name := range target.names("") {
		for i := range target.objects[name] {
			for _, flip := range []byte{1 << (i % 8)} {
				where := fmt.Sprintf("%s byte %d ^ %#x", name[:5], i, flip)
				target.objects[name][i] ^= flip
				r, err := repo.Open(ctx, target, nil)
				if err != nil {
					t.Fatalf("%s: %v", where, err)
				}
				if c := must.Get(r.Check(ctx, true))(t); c.OK() {
					t.Errorf("%s: not found", where)
				}
				lost := neverWrong(t, r, samples)
				neverWrong(t, old, samples) // knows the intact index
				if strings.HasPrefix(name, "index/") {
					if lost != len(samples) || len(r.Problems()) != 1 {
						t.Errorf("%s: %d lost, problems %v", where, lost, r.Problems())
					}
				} else if lost > 1 {
					t.Errorf("%s: %d blobs lost", where, lost)
				}
				target.objects[name][i] ^= flip
			}
		}
	}
	clean(t, open(t, target))
}

// TestChangedDirectoriesAreFoundWithoutReadingData is about everything but
// blobs.
func TestChangedDirectoriesAreFoundWithoutReadingData(t *testing.T) {
	t.Parallel()
	target, r := openOn(t, newMemory())
	report := fill(t, r, few()...)
	name := target.names("packs/")[0]
	for i := range target.objects[name] {
		target.objects[name][i] ^= 4
		c, err := r.Check(ctx, false)
		inBlobs := i >= 32 && i < 32+int(report.Stored)
		must.Hold(t, err == nil && c.OK() == inBlobs && !c.DataRead, "byte %d: %v, %+v", i, err, c)
		target.objects[name][i] ^= 4
	}
}

func TestMissingCutAndSwappedObjects(t *testing.T) {
	t.Parallel()
	whole, r := openOn(t, newMemory())
	r.SetPackBytes(500)
	samples := few()
	fill(t, r, samples[:4]...)
	fill(t, r, samples[4:]...)
	packs, index := whole.names("packs/"), whole.names("index/")
	if len(packs) < 2 || len(index) != 2 {
		t.Fatalf("%q %q", packs, index)
	}
	type objects = map[string][]byte
	tests := []struct {
		name string
		do   func(o objects)
		lost bool // blobs can be read no more
	}{
		{"pack missing", func(o objects) { delete(o, packs[0]) }, true},
		{"two packs missing", func(o objects) { delete(o, packs[0]); delete(o, packs[1]) }, true},
		{"pack empty", func(o objects) { o[packs[0]] = nil }, true},
		{"pack without its end", func(o objects) { o[packs[0]] = o[packs[0]][:len(o[packs[0]])-1] }, false},
		{"pack cut in a blob", func(o objects) { o[packs[0]] = o[packs[0]][:40] }, true},
		{"pack longer", func(o objects) { o[packs[0]] = append(o[packs[0]], 0) }, false},
		{"pack twice", func(o objects) { o[packs[0]] = append(o[packs[0]], o[packs[0]]...) }, false},
		{"packs swapped", func(o objects) { o[packs[0]], o[packs[1]] = o[packs[1]], o[packs[0]] }, true},
		{"pack of zeros", func(o objects) { o[packs[0]] = make([]byte, len(o[packs[0]])) }, true},
		{"index for pack", func(o objects) { o[packs[0]] = bytes.Clone(o[index[0]]) }, true},
		{"index missing", func(o objects) { delete(o, index[0]) }, true},
		{"index empty", func(o objects) { o[index[0]] = nil }, true},
		{"index cut", func(o objects) { o[index[0]] = o[index[0]][:100] }, true},
		{"index longer", func(o objects) { o[index[0]] = append(o[index[0]], 0) }, true},
		{"index objects swapped", func(o objects) { o[index[0]], o[index[1]] = o[index[1]], o[index[0]] }, true},
		{"index of zeros", func(o objects) { o[index[0]] = make([]byte, len(o[index[0]])) }, true},
		{"pack for index", func(o objects) { o[index[0]] = bytes.Clone(o[packs[0]]) }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target := whole.clone()
			tt.do(target.objects)
			r := open(t, target)
			if c := must.Get(r.Check(ctx, true))(t); c.OK() && len(c.Unindexed) == 0 {
				t.Errorf("check: %+v", c)
			}
			if lost := neverWrong(t, r, samples); (lost > 0) != tt.lost {
				t.Errorf("%d blobs lost", lost)
			}
			storeAgain(t, target, samples, tt.name == "pack of zeros")
			if strings.HasPrefix(tt.name, "index") && tt.name != "index for pack" || tt.name == "pack for index" {
				r := open(t, target)
				must.Do(t, r.Rebuild(ctx))
				readAll(t, r, samples)
			}
		})
	}
}

// storeAgain puts everything once more: what the index does not know, or knows
// in a pack that is gone or has another size, is stored again, unless that
// gives the very pack that is damaged.
func storeAgain(t *testing.T, target *memory, samples []sample, unnoticed bool) {
	t.Helper()
	target = target.clone()
	w := writer(t, open(t, target))
	putAll(t, w, samples...)
	_, err := w.Flush(ctx)
	if err != nil && amber.KindOf(err) != amber.KindDamaged {
		t.Errorf("flush: %v", err)
	}
	if lost := neverWrong(t, open(t, target), samples); err == nil && lost > 0 && !unnoticed {
		t.Errorf("%d blobs lost after they were stored again", lost)
	}
}

func TestRebuildEqualsTheIndex(t *testing.T) {
	t.Parallel()
	target, r := openOn(t, newMemory())
	r.SetPackBytes(500)
	samples := few()
	fill(t, r, samples...)
	index := target.names("index/")
	b := target.objects[index[0]]
	for name, damage := range map[string]func(){
		"intact":  func() {},
		"missing": func() { delete(target.objects, index[0]) },
		"damaged": func() { target.objects[index[0]] = append(b[:50:50], 0) },
	} {
		damage()
		r := open(t, target)
		must.Do(t, r.Rebuild(ctx))
		must.Equal(t, name+": index", target.names("index/"), index)
		must.Hold(t, bytes.Equal(target.objects[index[0]], b), "%s: another index", name)
		readAll(t, r, samples)
		clean(t, r)
	}
}

func TestRebuildNeedsNoOlderIndexObject(t *testing.T) {
	t.Parallel()
	target, r := openOn(t, newMemory())
	samples := few()
	for _, s := range samples {
		fill(t, r, s)
	}
	old := target.names("index/")
	target.objects[old[2]][40] ^= 1
	r = open(t, target)
	must.Do(t, r.Rebuild(ctx))
	readAll(t, r, samples)
	must.Equal(t, "blobs", r.Blobs(), len(samples))
	for _, name := range old {
		delete(target.objects, name)
	}
	r = open(t, target)
	readAll(t, r, samples)
	clean(t, r)
}

func TestRebuildKeepsTheIndexOfAPackWithoutDirectory(t *testing.T) {
	t.Parallel()
	target, r := openOn(t, newMemory())
	samples := few()
	fill(t, r, samples[:3]...)
	pack := target.objects[target.names("packs/")[0]]
	fill(t, r, samples[3:]...)
	pack[len(pack)-70] ^= 1
	must.Do(t, r.Rebuild(ctx))
	readAll(t, r, samples)
}

func TestABlobInTwoPacksSurvivesTheLossOfOne(t *testing.T) {
	t.Parallel()
	target := newMemory()
	a, b := open(t, target), open(t, target) // neither knows of the other
	samples := few()
	fill(t, a, samples...)
	fill(t, b, append([]sample{{repo.KindFile, 0, []byte("first")}}, samples...)...)
	for _, name := range target.names("packs/") {
		for _, loss := range []func(){
			func() { target.objects[name] = nil },
			func() { delete(target.objects, name) },
		} {
			whole := bytes.Clone(target.objects[name])
			known := open(t, target) // knows both
			loss()
			readAll(t, known, samples)
			readAll(t, open(t, target), samples)
			target.objects[name] = whole
		}
		for i := range target.objects[name] {
			target.objects[name][i] ^= 1
			readAll(t, open(t, target), samples)
			target.objects[name][i] ^= 1
		}
	}
}

func TestUnreachableTargetIsNoDamage(t *testing.T) {
	t.Parallel()
	target, r := openOn(t, newMemory())
	fill(t, r, few()...)
	away := amber.Errorf(amber.KindUnreachable, "get", "", "no answer")
	for n := 1; ; n++ {
		c := target.clone()
		r := open(t, c)
		c.calls = nil
		c.fail = func(i int) error {
			if i == n {
				return away
			}
			return nil
		}
		_, checked := r.Check(ctx, true)
		rebuilt := r.Rebuild(ctx)
		_, got := r.Get(ctx, few()[0].id())
		read := r.Read(ctx, ids(few()), func(repo.Blob) error { return nil })
		failed := 0
		for _, err := range []error{checked, rebuilt, got, read} {
			if err != nil && amber.KindOf(err) != amber.KindUnreachable {
				t.Errorf("call %d: %v", n, err)
			}
			if err != nil {
				failed++
			}
		}
		if len(c.calls) < n {
			break
		}
		must.Equal(t, fmt.Sprintf("errors of call %d (%s)", n, c.calls[n-1]), failed, 1)
	}
}

func TestACrashAtAnyCallLeavesNoIndexOfAMissingPack(t *testing.T) {
	t.Parallel()
	samples := few()
	for n := 1; ; n++ {
		target, r := openOn(t, newMemory())
		r.SetPackBytes(500)
		target.calls = nil
		target.fail = func(i int) error {
			if i >= n {
				return errCut
			}
			return nil
		}
		w := r.NewWriter(ctx)
		var err error
		for _, s := range samples {
			if _, err = s.put(ctx, w); err != nil {
				break
			}
		}
		_, ferr := w.Flush(ctx)
		_ = w.Close()
		for _, err := range []error{err, ferr} {
			if err != nil && !errors.Is(err, errCut) {
				t.Errorf("call %d: %v", n, err)
			}
		}
		target.fail = nil
		after := open(t, target)
		c, err := after.Check(ctx, true)
		must.Hold(t, err == nil && c.OK() && len(after.Problems()) == 0, "call %d: %v, %+v", n, err, c)
		if ferr == nil {
			readAll(t, after, samples)
			break
		}
		if after.Blobs() != 0 || len(c.Unindexed) != len(target.names("packs/")) {
			t.Errorf("call %d: %d blobs are known", n, after.Blobs())
		}
		// The next writer takes up what is there.
		after.SetPackBytes(500)
		fill(t, after, samples...)
		readAll(t, after, samples)
		clean(t, open(t, target))
	}
}

func TestFlushMayBeRepeatedWhenOnlyTheIndexFailed(t *testing.T) {
	t.Parallel()
	target, r := openOn(t, newMemory())
	w := writer(t, r)
	putAll(t, w, few()...)
	target.fail = func(int) error {
		if strings.HasPrefix(target.calls[len(target.calls)-1], "put index/") {
			return errCut
		}
		return nil
	}
	if _, err := w.Flush(ctx); !errors.Is(err, errCut) || r.Blobs() != 0 {
		t.Errorf("flush: %v", err)
	}
	target.fail = nil
	must.Equal(t, "new blobs", must.Get(w.Flush(ctx))(t).New, len(few()))
	readAll(t, open(t, target), few())
}

func TestADamagedPackOfTheSameNameIsNotReliedOn(t *testing.T) {
	t.Parallel()
	target := newMemory()
	fill(t, open(t, target), few()...)
	delete(target.objects, target.names("index/")[0])
	target.objects[target.names("packs/")[0]][40] ^= 1
	r := open(t, target)
	w := writer(t, r)
	putAll(t, w, few()...)
	if _, err := w.Flush(ctx); amber.KindOf(err) != amber.KindDamaged || len(target.names("index/")) > 0 {
		t.Errorf("flush: %v", err)
	}
}
