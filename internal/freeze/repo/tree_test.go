package repo_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

const part = repo.FilePartBytes

// folder is a tree by hand: files by name, folders by name and slash.
type folder map[string][]byte

// plant stores a folder and returns its root, and what WalkTree should tell.
func plant(t testing.TB, w *repo.Writer, files folder) (repo.ID, []string) {
	t.Helper()
	var entries []repo.TreeEntry
	var told []string
	below := map[string]folder{}
	for path, data := range files {
		if dir, rest, ok := strings.Cut(path, "/"); ok {
			if below[dir] == nil {
				below[dir] = folder{}
			}
			if rest != "" {
				below[dir][rest] = data
			}
			continue
		}
		size, parts, err := w.PutFile(ctx, iotest.HalfReader(bytes.NewReader(data)))
		if err != nil || size != int64(len(data)) {
			t.Fatalf("%s: %v, %d bytes", path, err, size)
		}
		entries = append(entries, repo.TreeEntry{
			Name: path, Mode: repo.ModeFile, Size: size, ModTime: -5, Parts: parts,
		})
		told = append(told, path)
	}
	for dir, files := range below {
		id, inner := plant(t, w, files)
		entries = append(entries, repo.TreeEntry{Name: dir, Mode: repo.ModeDir, ModTime: 7, Tree: id})
		told = append(told, dir)
		for _, p := range inner {
			told = append(told, dir+"/"+p)
		}
	}
	return must.Get(w.PutTree(ctx, entries))(t), told
}

func TestTreesComeBack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		files := folder{
			"empty": nil, "a.md": []byte("a"), "Größe": text(1, 5000), "dir/": nil, "x/y/z/deep": []byte("deep"),
			"x/almost": noise(2, part-1), "x/one": noise(3, part), "x/more": noise(4, part+1), "x/three": noise(5, 3*part),
			"x/same": []byte("a"), " ": []byte("a blank"), "..x": nil, `a\b`: nil, strings.Repeat("ä", 127): nil,
		}
		r := open(t, newMemory())
		w := writer(t, r)
		root, want := plant(t, w, files)
		must.Get(w.Flush(ctx))(t)
		var told []string
		must.Do(t, r.WalkTree(ctx, root, func(path string, e repo.TreeEntry) error {
			told = append(told, path)
			if e.Mode == repo.ModeDir {
				return nil
			}
			var got bytes.Buffer
			if err := r.ReadFile(ctx, e, &got); err != nil || !bytes.Equal(got.Bytes(), files[path]) || e.Size != int64(got.Len()) {
				t.Errorf("%s: %v, %d bytes", path, err, got.Len())
			}
			return nil
		}))
		for i, path := range told {
			if dir := strings.LastIndexByte(path, '/'); dir >= 0 && !slices.Contains(told[:i], path[:dir]) {
				t.Errorf("%s comes before its folder", path)
			}
		}
		slices.Sort(told)
		slices.Sort(want)
		must.Equal(t, "told", told, want)
		count := map[repo.Kind]int{}
		seen := map[repo.ID]bool{}
		err := r.TreeBlobs(ctx, root, func(id repo.ID, kind repo.Kind) error {
			if l, ok := r.Find(id); !ok || l.Kind != kind || seen[id] {
				t.Errorf("blob %v of %v: found %v, seen %v", id, kind, ok, seen[id])
			}
			seen[id] = true
			count[kind]++
			return nil
		})
		// 5 folders; 2 small files that differ, one of a blank, and 1, 1, 2 and 3 parts.
		must.Hold(t, err == nil && count[repo.KindTree] == 5 && count[repo.KindFile] == 4+1+1+2+3, "%v, %v", err, count)
	})
}

func TestTreesAreTheSameInAnyOrder(t *testing.T) {
	t.Parallel()
	r := open(t, newMemory())
	w := writer(t, r)
	entries := []repo.TreeEntry{{Name: "b", Mode: repo.ModeFile}, {Name: "a", Mode: repo.ModeExec}, {Name: "B2", Mode: repo.ModeFile}}
	first, err := w.PutTree(ctx, entries)
	if err != nil || entries[0].Name != "b" {
		t.Fatalf("%v, %v", err, entries)
	}
	slices.Reverse(entries)
	if second, err := w.PutTree(ctx, entries); err != nil || first != second {
		t.Errorf("%v, %v and %v", err, first, second)
	}
}

func TestPutTreeRefuses(t *testing.T) {
	t.Parallel()
	file := func(name string) repo.TreeEntry { return repo.TreeEntry{Name: name, Mode: repo.ModeFile} }
	id := []repo.ID{{1}, {2}}
	tests := map[string][]repo.TreeEntry{
		"no name":              {file("")},
		"dot":                  {file(".")},
		"dots":                 {file("..")},
		"slash":                {file("a/b")},
		"absolute":             {file("/a")},
		"zero":                 {file("a\x00b")},
		"not UTF-8":            {file("a\xff")},
		"long":                 {file(strings.Repeat("a", 256))},
		"twice":                {file("a"), file("b"), file("a")},
		"case":                 {file("Notes.md"), file("notes.MD")},
		"case of Größe":        {file("GRÖSSE"), file("größE"), file("GRÖSSe")},
		"Kelvin":               {file("K"), file("\u212a")},
		"mode 0":               {{Name: "a"}},
		"mode 4":               {{Name: "a", Mode: 4}},
		"negative":             {{Name: "a", Mode: repo.ModeFile, Size: -1}},
		"no parts":             {{Name: "a", Mode: repo.ModeFile, Size: 1}},
		"parts of nothing":     {{Name: "a", Mode: repo.ModeFile, Parts: id}},
		"too many parts":       {{Name: "a", Mode: repo.ModeFile, Size: 5, Parts: id}},
		"too few parts":        {{Name: "a", Mode: repo.ModeFile, Size: 2*part + 1, Parts: id}},
		"too large":            {{Name: "a", Mode: repo.ModeFile, Size: 1<<63 - 1, Parts: id}},
		"file with a tree":     {{Name: "a", Mode: repo.ModeFile, Tree: id[0]}},
		"folder without tree":  {{Name: "a", Mode: repo.ModeDir}},
		"folder with a size":   {{Name: "a", Mode: repo.ModeDir, Tree: id[0], Size: 1}},
		"folder with parts":    {{Name: "a", Mode: repo.ModeDir, Tree: id[0], Parts: id}},
		"too many in a folder": make([]repo.TreeEntry, repo.MaxTreeEntries+1),
	}
	for name, entries := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := writer(t, open(t, newMemory()))
			must.Fail(w.PutTree(ctx, entries))(t, "put tree", amber.KindInvalid)
		})
	}
}

// This is the format of trees once more, from the document.

type rawEntry struct {
	mode, length byte
	zero         uint16
	time, size   uint64
	name         string
	ids          []repo.ID
}

func rawTree(version, flags, count uint32, entries ...rawEntry) []byte {
	le := binary.LittleEndian
	b := []byte("AmberDir")
	for _, n := range []uint32{version, flags, count} {
		b = le.AppendUint32(b, n)
	}
	for _, e := range entries {
		b = le.AppendUint16(append(b, e.mode, e.length), e.zero)
		b = le.AppendUint64(le.AppendUint64(b, e.time), e.size)
		b = append(b, e.name...)
		for _, id := range e.ids {
			b = append(b, id[:]...)
		}
	}
	return b
}

func putRaw(t testing.TB, target *memory, b []byte) repo.ID {
	t.Helper()
	s := sample{repo.KindTree, 0, b}
	fill(t, open(t, target), s)
	return s.id()
}

func TestHostileTreesAreDamage(t *testing.T) {
	t.Parallel()
	one := repo.ID{1}
	a := rawEntry{mode: 1, length: 1, name: "a", size: 3, ids: []repo.ID{one}}
	b := rawEntry{mode: 3, length: 1, name: "b", ids: []repo.ID{one}}
	with := func(e rawEntry, change func(*rawEntry)) rawEntry { change(&e); return e }
	named := func(e rawEntry, name string) rawEntry {
		e.name, e.length = name, byte(len(name))
		return e
	}
	tests := []struct {
		name string
		tree []byte
		kind amber.Kind
	}{
		{"nothing", nil, amber.KindDamaged},
		{"other magic", []byte("AmberTreeAmberTreeAmberTree"), amber.KindDamaged},
		{"version 2", rawTree(2, 0, 2, a, b), amber.KindTooNew},
		{"flags", rawTree(1, 1, 2, a, b), amber.KindTooNew},
		{"version 0", rawTree(0, 0, 2, a, b), amber.KindDamaged},
		{"an entry less", rawTree(1, 0, 2, a), amber.KindDamaged},
		{"an entry more", rawTree(1, 0, 1, a, b), amber.KindDamaged},
		{"all of 32 bits", rawTree(1, 0, 1<<32-1, a, b), amber.KindDamaged},
		{"a byte more", append(rawTree(1, 0, 2, a, b), 0), amber.KindDamaged},
		{"a byte fewer", rawTree(1, 0, 2, a, b)[:20+20+1+32+20+1+31], amber.KindDamaged},
		{"out of order", rawTree(1, 0, 2, b, a), amber.KindDamaged},
		{"twice", rawTree(1, 0, 2, a, a), amber.KindDamaged},
		{"case", rawTree(1, 0, 2, named(a, "A"), a), amber.KindDamaged},
		{"no name", rawTree(1, 0, 1, named(a, "")), amber.KindDamaged},
		{"dots", rawTree(1, 0, 1, named(b, "..")), amber.KindDamaged},
		{"slash", rawTree(1, 0, 1, named(a, "../etc/passwd")), amber.KindDamaged},
		{"zero in the name", rawTree(1, 0, 1, named(a, "a\x00")), amber.KindDamaged},
		{"not UTF-8", rawTree(1, 0, 1, named(a, "\xc3")), amber.KindDamaged},
		{"mode 0", rawTree(1, 0, 1, with(a, func(e *rawEntry) { e.mode = 0 })), amber.KindDamaged},
		{"mode 4, a link", rawTree(1, 0, 1, with(a, func(e *rawEntry) { e.mode = 4 })), amber.KindDamaged},
		{"not zero", rawTree(1, 0, 1, with(a, func(e *rawEntry) { e.zero = 256 })), amber.KindDamaged},
		{"a folder with a size", rawTree(1, 0, 1, with(b, func(e *rawEntry) { e.size = 1 })), amber.KindDamaged},
		{"a folder of nothing", rawTree(1, 0, 1, with(b, func(e *rawEntry) { e.ids = []repo.ID{{}} })), amber.KindDamaged},
		{"parts that are not there", rawTree(1, 0, 1, with(a, func(e *rawEntry) { e.size = part + 1 })), amber.KindDamaged},
		{"all of 64 bits", rawTree(1, 0, 1, with(a, func(e *rawEntry) { e.size = 1<<64 - 1 })), amber.KindDamaged},
		{"all of 63 bits", rawTree(1, 0, 1, with(a, func(e *rawEntry) { e.size = 1<<63 - 1 })), amber.KindDamaged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target := newMemory()
			id := putRaw(t, target, tt.tree)
			if entries, err := open(t, target).Tree(ctx, id); amber.KindOf(err) != tt.kind {
				t.Errorf("got %v, %v", entries, err)
			}
		})
	}
	target := newMemory()
	id := putRaw(t, target, rawTree(1, 0, 2, a, b))
	must.Equal(t, "entries of the tree of the document", len(must.Get(open(t, target).Tree(ctx, id))(t)), 2)
}

// TestTreeBombsAreDamage makes few blobs that expand to more than there may
// be, and folders that lie too deep.
func TestTreeBombsAreDamage(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1, 2, 400} {
		r := open(t, newMemory())
		w := writer(t, r)
		id := must.Get(w.PutTree(ctx, nil))(t)
		for range repo.MaxTreeDepth {
			var entries []repo.TreeEntry
			for i := range width {
				entries = append(entries, repo.TreeEntry{Name: fmt.Sprint(i), Mode: repo.ModeDir, Tree: id})
			}
			id = must.Get(w.PutTree(ctx, entries))(t)
		}
		must.Get(w.Flush(ctx))(t)
		calls := 0
		err := r.WalkTree(ctx, id, func(string, repo.TreeEntry) error { calls++; return nil })
		if amber.KindOf(err) != amber.KindDamaged || calls > repo.MaxTreeEntries {
			t.Errorf("%d wide: %v after %d", width, err, calls)
		}
		blobs := 0
		err = r.TreeBlobs(ctx, id, func(repo.ID, repo.Kind) error { blobs++; return nil })
		if amber.KindOf(err) != amber.KindDamaged || blobs > repo.MaxTreeDepth+2 {
			t.Errorf("%d wide: %v after %d blobs", width, err, blobs)
		}
	}
}

func TestFilesThatAreNotWhatTheirTreeSaysAreDamage(t *testing.T) {
	t.Parallel()
	r := open(t, newMemory())
	long, short, tree := sample{repo.KindFile, 0, noise(1, part)}, sample{repo.KindFile, 0, []byte("abc")}, sample{repo.KindTree, 0, []byte("abc")}
	fill(t, r, long, short, tree)
	tests := []struct {
		name string
		e    repo.TreeEntry
		kind amber.Kind
	}{
		{"too short", repo.TreeEntry{Name: "a", Mode: repo.ModeFile, Size: 4, Parts: []repo.ID{short.id()}}, amber.KindDamaged},
		{"too long", repo.TreeEntry{Name: "a", Mode: repo.ModeFile, Size: 2, Parts: []repo.ID{short.id()}}, amber.KindDamaged},
		{"a short part first", repo.TreeEntry{Name: "a", Mode: repo.ModeFile, Size: part + 3, Parts: []repo.ID{short.id(), long.id()}}, amber.KindDamaged},
		{"a tree", repo.TreeEntry{Name: "a", Mode: repo.ModeFile, Size: 3, Parts: []repo.ID{tree.id()}}, amber.KindDamaged},
		{"not there", repo.TreeEntry{Name: "a", Mode: repo.ModeFile, Size: 3, Parts: []repo.ID{{1}}}, amber.KindNotFound},
		{"a folder", repo.TreeEntry{Name: "a", Mode: repo.ModeDir, Tree: tree.id()}, amber.KindInvalid},
	}
	for _, tt := range tests {
		must.Kind(t, tt.name, r.ReadFile(ctx, tt.e, &bytes.Buffer{}), tt.kind)
	}
	good := repo.TreeEntry{Name: "a", Mode: repo.ModeExec, Size: part + 3, Parts: []repo.ID{long.id(), short.id()}}
	var b bytes.Buffer
	if err := r.ReadFile(ctx, good, &b); err != nil || b.Len() != part+3 {
		t.Errorf("%v, %d bytes", err, b.Len())
	}
	must.Fail(r.Tree(ctx, short.id()))(t, "a file as a tree", amber.KindDamaged)
}

func TestPutFileReportsItsReader(t *testing.T) {
	t.Parallel()
	w := writer(t, open(t, newMemory()))
	if _, _, err := w.PutFile(ctx, iotest.ErrReader(errCut)); !errors.Is(err, errCut) {
		t.Errorf("got %v", err)
	}
}

// FuzzTree reads any bytes as a tree. A tree that can be read is written again byte for byte.
func FuzzTree(f *testing.F) {
	one := repo.ID{1}
	f.Add(rawTree(1, 0, 2, rawEntry{1, 1, 0, 5, 3, "a", []repo.ID{one}}, rawEntry{3, 1, 0, 0, 0, "b", []repo.ID{one}}))
	f.Add(rawTree(1, 0, 1, rawEntry{2, 2, 0, 1 << 63, 2 * part, "ab", []repo.ID{one, one}}))
	f.Add(rawTree(1, 0, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		target := newMemory()
		id := putRaw(t, target, b)
		r := open(t, target)
		entries, err := r.Tree(ctx, id)
		if err != nil {
			if k := amber.KindOf(err); k != amber.KindDamaged && k != amber.KindTooNew {
				t.Error(err)
			}
			return
		}
		w := writer(t, r)
		must.Equal(t, "written again", must.Get(w.PutTree(ctx, entries))(t), id)
		_ = r.WalkTree(ctx, id, func(path string, _ repo.TreeEntry) error { return nil })
	})
}
