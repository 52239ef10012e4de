// Package mcpservice reads the database and the export of mcp-memory-service, and writes the export.
package mcpservice

import (
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber/internal/share/foreign"
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

func detect(t *foreign.Tree) foreign.Match {
	return foreign.SureIf(t.AnyDatabase(foreign.Looked(databases(t)), isOurs) || slices.ContainsFunc(foreign.Looked(documents(t)), isExport))
}

func databases(t *foreign.Tree) []foreign.File { return t.NamedDatabases("sqlite_vec.db") }

func documents(t *foreign.Tree) []foreign.File { return t.NearestDocuments() }

// isOurs reports whether a database is one of this program: a table called memories is in many.
func isOurs(db *foreign.Database) bool {
	return db.HasColumns("memories", "content_hash", "content", "tags", "memory_type")
}

func isExport(f foreign.File) bool {
	o := f.Outline()
	return o["export_metadata"] && (o["memories[].content_hash"] || o["export_metadata.exporter_version"] && o["export_metadata.total_memories"])
}
