// Package mcpservice reads the database and the export of mcp-memory-service, and writes the export.
package mcpservice

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber/foreign"
)

const name = "mcp-memory-service"

// Format is the format.
var Format = foreign.Format{Name: name, Title: "mcp-memory-service", Detect: detect, Read: read, Homes: homes, Write: write}

func homes(env func(string) string, home string) []string {
	var out []string
	for _, variable := range []string{"MCP_MEMORY_SQLITE_PATH", "MCP_MEMORY_BASE_DIR"} {
		if v := env(variable); v != "" {
			out = append(out, v)
		}
	}
	out = append(out, filepath.Join(home, ".local", "share", "mcp-memory"), filepath.Join(home, "Library", "Application Support", "mcp-memory"))
	if local := env("LOCALAPPDATA"); local != "" {
		out = append(out, filepath.Join(local, "mcp-memory"))
	}
	return out
}

// Bounds of what detection looks at.
const (
	headBytes = 64 << 10
	headFiles = 8
)

func detect(t *foreign.Tree) foreign.Match {
	for _, f := range first(databases(t)) {
		if db, err := foreign.OpenDatabase(context.Background(), t, f); err == nil {
			ok := isOurs(db)
			if db.Close() == nil && ok {
				return foreign.Sure
			}
		}
	}
	if slices.ContainsFunc(first(documents(t)), isExport) {
		return foreign.Sure
	}
	return foreign.No
}

func first(files []foreign.File) []foreign.File { return files[:min(len(files), headFiles)] }

func databases(t *foreign.Tree) []foreign.File {
	return slices.DeleteFunc(t.Nearest("sqlite_vec.db"), func(f foreign.File) bool { return !f.IsDatabase() })
}

func documents(t *foreign.Tree) []foreign.File {
	return slices.DeleteFunc(t.Nearest("*.json"), func(f foreign.File) bool { return f.IsDatabase() || strings.Count(f.Name, "/") > 1 })
}

// isOurs reports whether a database is one of this program: a table called memories is in many.
func isOurs(db *foreign.Database) bool {
	for _, c := range []string{"content_hash", "content", "tags", "memory_type"} {
		if !slices.Contains(db.Columns("memories"), c) {
			return false
		}
	}
	return db.Has("memories")
}

func isExport(f foreign.File) bool {
	o := foreign.Outline(f.Head(headBytes))
	return o["export_metadata"] && (o["memories[].content_hash"] || o["export_metadata.exporter_version"] && o["export_metadata.total_memories"])
}
