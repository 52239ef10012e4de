package main

import (
	"context"
	"crypto/rand"
	"flag"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/sqlite"
)

var full = flag.Bool("full", false, "generate the agent at full size")

// TestGeneratedAgentIsWhole checks that the agent that is measured is one that
// Amber could have written, embeddings and history included.
func TestGeneratedAgentIsWhole(t *testing.T) {
	t.Parallel()
	size := agentSize{Seed: 7, Memories: 600, Vector: 8, Notes: 12, Commits: 5}
	if *full {
		size = fullSize
	}
	ctx := context.Background()
	dir := t.TempDir()
	var path string
	must.Do(t, attempt(func() { path = generated(ctx, dir, size) }))
	s := must.Get(sqlite.Open(ctx, agentIn(path), sqlite.Options{Clock: time.Now, Random: rand.Reader, KeepSchema: true}))(t)
	defer s.Close()
	for _, f := range s.Check(ctx) {
		if f.Err != nil {
			t.Errorf("%s %s: %v", f.File, f.Check, f.Err)
		}
	}
	must.NoError(t, s.DeepCheck(ctx))
	stats := must.Get(s.Stats(ctx))(t)
	must.Equal(t, "memories and embeddings", []int64{stats.Memories, stats.Embeddings}, []int64{int64(size.Memories), int64(size.Memories)})
	bytes, files := folderSize(filepath.Join(path, agentPath))
	t.Logf("%d bytes in %d files", bytes, files)
	if files < int64(size.Notes) {
		t.Errorf("%d files, and %d notes", files, size.Notes)
	}
}
