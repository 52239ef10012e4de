// Package claudemem reads the database of claude-mem and the JSON that it exports, and writes that JSON.
package claudemem

import (
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber/internal/share/foreign"
)

const name = "claude-mem"

// Format is the format.
var Format = foreign.Format{Name: name, Title: "claude-mem", Detect: detect, Read: read, Homes: homes, Write: write, Folder: true}

func homes(env func(string) string, home string) []string {
	if dir := env("CLAUDE_MEM_DATA_DIR"); dir != "" {
		return []string{dir}
	}
	dir := filepath.Join(home, ".claude-mem")
	s := foreign.Settings(filepath.Join(dir, "settings.json"))
	return foreign.Places(home, s.Text("CLAUDE_MEM_DATA_DIR"), s.Sub("env").Text("CLAUDE_MEM_DATA_DIR"), dir)
}

func detect(t *foreign.Tree) foreign.Match {
	return foreign.SureIf(t.AnyDatabase(foreign.Looked(databases(t)), isOurs) || slices.ContainsFunc(foreign.Looked(documents(t)), isExport))
}

// databases are the files that may be the program's database.
func databases(t *foreign.Tree) []foreign.File { return t.NamedDatabases("claude-mem.db") }

// documents are the files that may be exports. The program has no name for them.
func documents(t *foreign.Tree) []foreign.File { return t.NearestDocuments() }

// isOurs reports whether a database is one of claude-mem, of any version.
func isOurs(db *foreign.Database) bool {
	columns := db.Columns(sessions.sql)
	return db.Has(sessions.sql, observations.sql, summaries.sql) &&
		(slices.Contains(columns, "content_session_id") || slices.Contains(columns, "claude_session_id"))
}

func isExport(f foreign.File) bool {
	o := f.Outline()
	return o["totalObservations"] && (o["exportedAt"] || o["exportedAtEpoch"]) ||
		o["observations[].memory_session_id"] || o["observations[].sdk_session_id"]
}
