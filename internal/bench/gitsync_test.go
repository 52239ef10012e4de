package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amber-memory/amber/internal/must"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestBareInsertsStoreWhatAnImportStores checks that the two sides of the
// ratio do the same: the same memories, and an entry of the change log each.
func TestBareInsertsStoreWhatAnImportStores(t *testing.T) {
	t.Parallel()
	const memories = 60
	ctx := context.Background()
	dir := t.TempDir()
	l := &syncLab{dir: dir, bench: &bench{dir: dir, writer: newWriter(1)}}
	s := must.Get(l.store(ctx, memories))(t)
	must.Do(t, s.Close())
	source, folder := filepath.Join(dir, storeName(memories)), filepath.Join(dir, ".amber")
	imported, bare := filepath.Join(dir, "import"), filepath.Join(dir, "bare")
	for _, step := range []struct {
		name string
		run  func(context.Context) (syncDone, error)
	}{
		{"export", syncTask{Home: source, Folder: folder}.export},
		{"import", syncTask{Home: imported, Folder: folder}.bring},
		{"bare", syncTask{Home: bare, Source: source, Rows: 25}.bare},
	} {
		done, err := step.run(ctx)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if done.Memories != memories {
			t.Errorf("%s: got %d memories, want %d", step.name, done.Memories, memories)
		}
	}
	if diff := gocmp.Diff(textRows(t, imported), textRows(t, bare)); diff != "" {
		t.Errorf("rows of an import (-) and of bare inserts (+):\n%s", diff)
	}
}

// textRows returns the memories of a store by id, without what an import
// changes: whom they are trusted from.
func textRows(t *testing.T, home string) [][]any {
	t.Helper()
	memories, _, err := sourceRows(context.Background(), home)
	must.Do(t, err)
	id, trust := slices.Index(memories.columns, "id"), slices.Index(memories.columns, "trust")
	slices.SortFunc(memories.rows, func(a, b []any) int { return cmp.Compare(a[id].(string), b[id].(string)) })
	for _, row := range memories.rows {
		row[trust] = ""
	}
	return memories.rows
}
