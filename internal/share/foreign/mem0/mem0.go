// Package mem0 reads what mem0 and OpenMemory leave behind: JSON of several shapes, the history database, the Markdown of
// the plugin, and the backup of OpenMemory. It writes JSON for mem0.
package mem0

import (
	"bytes"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber/internal/share/foreign"
)

const name = "mem0"

// Mem0 is the format of mem0.
var Mem0 = foreign.Format{Name: name, Title: "mem0", Detect: detect, Read: read, Homes: homes, Write: write}

func homes(env func(string) string, home string) []string {
	if dir := env("MEM0_DIR"); dir != "" {
		return []string{dir}
	}
	return []string{filepath.Join(home, ".mem0")}
}

// Bounds of what detection looks at.
const (
	headBytes = 64 << 10
	headLines = 20
)

func detect(t *foreign.Tree) foreign.Match {
	return foreign.SureIf(t.AnyDatabase(foreign.Looked(databases(t)), isHistory) ||
		slices.ContainsFunc(foreign.Looked(markdowns(t)), isMarkdown) || slices.ContainsFunc(foreign.Looked(documents(t)), isDocument))
}

func databases(t *foreign.Tree) []foreign.File { return t.NamedDatabases("history.db") }

func markdowns(t *foreign.Tree) []foreign.File {
	return slices.DeleteFunc(t.Nearest("mem0-export-*.md"), func(f foreign.File) bool { return !f.Is(".md") })
}

func documents(t *foreign.Tree) []foreign.File {
	return slices.DeleteFunc(t.NearestDocuments(), func(f foreign.File) bool { return f.Is(".md") })
}

// isHistory reports whether a database is the history of mem0: other programs have a table of that name, too.
func isHistory(db *foreign.Database) bool {
	return db.HasColumns("history", "memory_id", "old_memory", "new_memory", "event")
}

// lists are the lists that can hold items; "" where the document itself is one.
var lists = []string{"results", "memories", "records", ""}

// isDocument reports whether a document can only be one of mem0: items of MemOS, Memobase, OpenMemory and others look much
// the same.
func isDocument(f foreign.File) bool {
	head := f.Head(headBytes)
	o := foreign.Outline(head)
	if o["records"] && o["kind"] && bytes.Contains(head, []byte(`"mem0_oss_qdrant_export"`)) {
		return true
	}
	for _, list := range lists {
		has := func(names ...string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return o[list+"[]."+n] })
		}
		owned := has("hash", "user_id", "agent_id", "run_id", "app_id")
		if has("state", "content_hash", "attributes", "customId") {
			continue
		}
		if has("id") && has("memory") && (owned || has("created_at", "categories")) || has("id") && has("text", "data", "content") && owned {
			return true
		}
	}
	return false
}
