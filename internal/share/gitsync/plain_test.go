package gitsync_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/must"
)

// decoded returns the text in a chunk file.
func decoded(t *testing.T, b []byte) string {
	t.Helper()
	r := must.Get(zstd.NewReader(bytes.NewReader(b)))(t)
	defer r.Close()
	var text bytes.Buffer
	must.Get(text.ReadFrom(r))(t)
	return text.String()
}

// plainText returns everything the folder says.
func plainText(t *testing.T, c *clone) string {
	t.Helper()
	var all strings.Builder
	for _, f := range c.chunkFiles() {
		b := must.Get(os.ReadFile(filepath.Join(c.folder, f)))(t)
		for _, p := range must.Get(chunk.Open(chunk.IDOf(b), b))(t) {
			all.WriteString(decoded(t, p.Bytes))
		}
	}
	return all.String()
}

// forgetChunks takes from a store what it knows about sync.
func forgetChunks(t *testing.T, c *clone) {
	t.Helper()
	current := must.Get(c.Agent().Current())(t)
	db := must.Get(sql.Open("sqlite", filepath.Join(c.Agent().GenDir(current), "memory.db")+"?_pragma=busy_timeout(5000)"))(t)
	defer db.Close()
	for _, table := range []string{"sync_chunks", "sync_places", "sync_imports", "sync_links"} {
		must.Get(db.ExecContext(t.Context(), "DELETE FROM "+table))(t)
	}
}
