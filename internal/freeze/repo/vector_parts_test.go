package repo_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// partsFolder holds the objects of a repository with a database in two
// versions, a folder and a set of git objects.
const partsFolder = "testdata/v1-parts"

// parts is what that repository holds.
type parts struct {
	first, second         repo.DatabaseRef
	firstData, secondData []byte
	tree, git             repo.ID
	file                  string
	object                repo.GitObject
}

// vectorParts stores them.
func vectorParts(t *testing.T, target *memory) parts {
	t.Helper()
	r := open(t, target)
	v := parts{file: "Grüße\n", object: gitBlob(20, "Grüße\n")}
	for i := range 300 {
		v.firstData = append(v.firstData, append(fmt.Appendf(nil, "page %d", i+1), make([]byte, 512)...)[:512]...)
	}
	v.secondData = bytes.Clone(v.firstData[:299*512])
	copy(v.secondData[512:], "changed")
	base, _ := freeze(t, r, 512, v.firstData, nil)
	changed, _ := freeze(t, r, 512, v.secondData, base)
	v.first, v.second = base.Ref, changed.Ref
	w := writer(t, r)
	size, ids, err := w.PutFile(ctx, strings.NewReader(v.file))
	must.Do(t, err)
	inner := must.Get(w.PutTree(ctx, nil))(t)
	v.tree = must.Get(w.PutTree(ctx, []repo.TreeEntry{
		{Name: "hello.md", Mode: repo.ModeFile, Size: size, ModTime: 1_700_000_000_000, Parts: ids},
		{Name: "empty", Mode: repo.ModeDir, Tree: inner},
	}))(t)
	must.Get(w.Flush(ctx))(t)
	v.git, _ = storeGit(t, r, repo.ID{}, v.object)
	return v
}

// TestVectorOfParts reads a repository that an earlier Amber wrote, and writes
// it again, like TestVector.
func TestVectorOfParts(t *testing.T) {
	t.Parallel()
	written := newMemory()
	v := vectorParts(t, written)
	stored := kept(t, partsFolder, written)
	r := open(t, stored)
	clean(t, r)
	isDatabase(t, r, v.first, v.firstData)
	isDatabase(t, r, v.second, v.secondData)
	isGit(t, r, v.git, v.object)
	var told []string
	err := r.WalkTree(ctx, v.tree, func(path string, e repo.TreeEntry) error {
		told = append(told, path)
		if e.Mode == repo.ModeDir {
			return nil
		}
		var b strings.Builder
		defer func() { told = append(told, b.String()) }()
		return r.ReadFile(ctx, e, &b)
	})
	if diff := cmp.Diff([]string{"empty", "hello.md", v.file}, told); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	must.Equal(t, "what the writer writes", written.objects, stored.objects)
}

// TestDocumentShowsTheParts compares the bytes in docs/format/repository.md
// with those of the vector.
func TestDocumentShowsTheParts(t *testing.T) {
	t.Parallel()
	doc := must.Get(os.ReadFile("../../../docs/format/repository.md"))(t)
	page := strings.ReplaceAll(string(doc), "\r\n", "\n")
	target := newMemory()
	v := vectorParts(t, target)
	r := open(t, target)
	must.Hold(t, strings.Contains(page, v.first.Digest.String()), "the document does not show the digest %v", v.first.Digest)
	shown := map[string]repo.ID{"a whole map": v.first.Maps[0], "a change": v.second.Maps[1], "a tree": v.tree, "a root": v.git}
	if err := r.GitBlobs(ctx, v.git, func(id repo.ID, kind repo.Kind) error {
		if id != v.git && kind == repo.KindTree {
			shown["a shard"] = id
		}
		return nil
	}); err != nil || len(shown) != 5 {
		t.Fatal(err, shown)
	}
	for name, id := range shown {
		b := must.Get(r.Get(ctx, id))(t)
		var dump strings.Builder
		for i, line := range slices.Collect(slices.Chunk(b.Data, 16)) {
			fmt.Fprintf(&dump, "%04x  % x\n", i*16, line)
		}
		if !strings.Contains(page, dump.String()) {
			t.Errorf("the document does not show %s, %v:\n%s", name, id, dump.String())
		}
	}
}
