package repo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// vectorFolder holds the objects of a repository, named as on a target.
const vectorFolder = "testdata/v1"

// vector is what the repository holds: a blob that is too short to compress,
// an empty one and two pages.
func vector() []sample {
	page := append([]byte("Grüße"), make([]byte, 505)...)
	return []sample{
		{repo.KindFile, 0, []byte("Grüße\n")},
		{repo.KindFile, 0, nil},
		{repo.KindPages, 512, append(page, make([]byte, 512)...)},
	}
}

// TestVector reads a repository that an earlier Amber wrote, and writes it
// again. When a new compressor writes other bytes, the old vector stays and is
// read, and a new one is added.
func TestVector(t *testing.T) {
	t.Parallel()
	written := newMemory()
	fill(t, open(t, written), vector()...)
	stored := kept(t, vectorFolder, written)
	r := open(t, stored)
	readAll(t, r, vector())
	clean(t, r)
	must.Equal(t, "what the writer writes", written.objects, stored.objects)
}

// TestDocumentShowsTheVector compares the bytes in docs/format/repository.md
// with the vector.
func TestDocumentShowsTheVector(t *testing.T) {
	t.Parallel()
	doc := must.Get(os.ReadFile("../../../docs/format/repository.md"))(t)
	must.Hold(t, strings.Contains(string(doc), blobVector), "the id of the document is another one")
	written := newMemory()
	fill(t, open(t, written), vector()...)
	for name, b := range written.objects {
		var dump strings.Builder
		for i, line := range slices.Collect(slices.Chunk(b, 16)) {
			fmt.Fprintf(&dump, "%04x  % x\n", i*16, line)
		}
		if !strings.Contains(strings.ReplaceAll(string(doc), "\r\n", "\n"), dump.String()) {
			t.Errorf("the document does not show %s:\n%s", name, dump.String())
		}
	}
}

// kept returns the repository that lies in a folder of testdata, after writing
// it there where that is asked for.
func kept(t *testing.T, folder string, written *memory) *memory {
	t.Helper()
	if *update {
		must.Do(t, os.RemoveAll(folder))
		for name, b := range written.objects {
			name = filepath.Join(folder, filepath.FromSlash(name))
			must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
			must.Do(t, os.WriteFile(name, b, 0o644))
		}
	}
	stored := newMemory()
	must.Do(t, readFolder(folder, stored))
	return stored
}

// readFolder reads the objects of a repository that lie in a folder.
func readFolder(folder string, into *memory) error {
	return filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		into.objects[strings.TrimPrefix(filepath.ToSlash(path), folder+"/")] = b
		return err
	})
}
