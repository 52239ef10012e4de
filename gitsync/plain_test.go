package gitsync_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber/gitsync/chunk"
)

// decoded returns the text in a chunk file.
func decoded(t *testing.T, b []byte) string {
	t.Helper()
	r, err := zstd.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// plainText returns everything the folder says.
func plainText(t *testing.T, c *clone) string {
	t.Helper()
	var all strings.Builder
	for _, f := range c.chunkFiles() {
		b, err := os.ReadFile(filepath.Join(c.folder, f))
		if err != nil {
			t.Fatal(err)
		}
		parts, err := chunk.Open(chunk.IDOf(b), b)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			all.WriteString(decoded(t, p.Bytes))
		}
	}
	return all.String()
}

// forgetChunks takes from a store what it knows about sync.
func forgetChunks(t *testing.T, c *clone) {
	t.Helper()
	current, err := c.Agent().Current()
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(c.Agent().GenDir(current), "memory.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"sync_chunks", "sync_places", "sync_imports", "sync_links"} {
		if _, err := db.ExecContext(t.Context(), "DELETE FROM "+table); err != nil {
			t.Fatal(err)
		}
	}
}
