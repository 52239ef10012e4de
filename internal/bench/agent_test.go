package main

import (
	"context"
	"crypto/rand"
	"flag"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/must"
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
	path := must.Get(generated(ctx, dir, size))(t)
	agent := must.Get(agentIn(path))(t)
	s := must.Get(sqlite.Open(ctx, agent, sqlite.Options{Clock: time.Now, Random: rand.Reader, KeepSchema: true}))(t)
	defer s.Close()
	for _, f := range s.Check(ctx) {
		if f.Err != nil {
			t.Errorf("%s %s: %v", f.File, f.Check, f.Err)
		}
	}
	if err := s.DeepCheck(ctx); err != nil {
		t.Error(err)
	}
	stats := must.Get(s.Stats(ctx))(t)
	if got, want := stats.Memories, int64(size.Memories); got != want {
		t.Errorf("%d memories, want %d", got, want)
	}
	if got, want := stats.Embeddings, int64(size.Memories); got != want {
		t.Errorf("%d embeddings, want %d", got, want)
	}
	bytes, files, err := folderSize(filepath.Join(path, agentPath))
	t.Logf("%d bytes in %d files", bytes, files)
	if err != nil || files < int64(size.Notes) {
		t.Errorf("%d files: %v", files, err)
	}
}
