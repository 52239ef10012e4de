package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestBareInsertsStoreWhatAnImportStores checks that the two sides of the
// ratio do the same: the same memories, and an entry of the change log each.
func TestBareInsertsStoreWhatAnImportStores(t *testing.T) {
	t.Parallel()
	const memories = 60
	ctx := context.Background()
	dir := t.TempDir()
	l := &syncLab{dir: dir, bench: &bench{dir: dir, writer: newWriter(1)}}
	must.Do(t, attempt(func() { check(l.store(ctx, memories).Close()) }))
	source, folder := filepath.Join(dir, storeName(memories)), filepath.Join(dir, ".amber")
	imported, bare := filepath.Join(dir, "import"), filepath.Join(dir, "bare")
	for _, step := range []struct {
		name string
		run  func(context.Context) syncDone
	}{
		{"export", syncTask{Home: source, Folder: folder}.export},
		{"import", syncTask{Home: imported, Folder: folder}.bring},
		{"bare", syncTask{Home: bare, Source: source, Rows: 25}.bare},
	} {
		must.Do(t, attempt(func() {
			within(step.name, func() { must.Equal(t, step.name, step.run(ctx).Memories, memories) })
		}))
	}
	must.Equal(t, "rows of bare inserts, and of an import", textRows(bare), textRows(imported))
}

// textRows returns the memories of a store by id, without what an import
// changes: whom they are trusted from.
func textRows(home string) [][]any {
	memories, _ := sourceRows(context.Background(), home)
	id, trust := slices.Index(memories.columns, "id"), slices.Index(memories.columns, "trust")
	slices.SortFunc(memories.rows, func(a, b []any) int { return cmp.Compare(a[id].(string), b[id].(string)) })
	for _, row := range memories.rows {
		row[trust] = ""
	}
	return memories.rows
}
