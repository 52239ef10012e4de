// Package mcpmemory reads and writes the graph of the reference memory server of the Model Context Protocol: lines of
// JSON, each an entity or a relation.
package mcpmemory

import (
	"bytes"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber/internal/share/foreign"
)

const name = "mcp-memory"

// Format is the format.
var Format = foreign.Format{Name: name, Title: "MCP reference memory", Detect: detect, Read: read, Homes: homes, Write: write}

func homes(env func(string) string, home string) []string {
	var out []string
	if file := env("MEMORY_FILE_PATH"); file != "" {
		out = append(out, file)
	}
	for _, lib := range []string{filepath.Join(home, ".npm-global", "lib"), "/usr/local/lib", "/usr/lib"} {
		out = append(out, filepath.Join(lib, "node_modules", "@modelcontextprotocol", "server-memory", "dist"))
	}
	return out
}

// Bounds of what detection looks at.
const (
	headBytes = 64 << 10
	headLines = 20
)

func detect(t *foreign.Tree) foreign.Match {
	return foreign.SureIf(slices.ContainsFunc(foreign.Looked(candidates(t)), fits))
}

// candidates are the files that may hold a graph: those of the server's own name, then others, which the user can name.
func candidates(t *foreign.Tree) []foreign.File {
	out := t.Nearest("memory.jsonl", "memory.json")
	for _, f := range t.Files() {
		if !isOwn(f) && f.Is(".jsonl", ".json") && filepath.Dir(f.Name) == "." && !isSingle(t) {
			out = append(out, f)
		}
	}
	return out
}

func isOwn(f foreign.File) bool { return f.Stem() == "memory" && f.Is(".jsonl", ".json") }

func isSingle(t *foreign.Tree) bool {
	_, ok := t.Single()
	return ok
}

// fits reports whether one of the first lines is of a graph.
func fits(f foreign.File) bool {
	head := f.Head(headBytes)
	lines := bytes.Split(head, []byte("\n"))
	for i, line := range lines {
		if i == headLines {
			break
		}
		found := false
		_ = scan(line, func(m foreign.Fields, _ bool) error { found = found || isGraph(m); return nil }) // a torn line may still fit
		if found {
			return true
		}
	}
	// One line may be longer than the head.
	o := foreign.Outline(lines[0])
	return len(lines) == 1 && len(head) == headBytes && o["type"] && o["name"] && o["entityType"] && o["observations"]
}

// isGraph reports whether an object can only be an entity or a relation of this format.
func isGraph(m foreign.Fields) bool {
	switch m.Text("type") {
	case "entity":
		return entityName(m) != "" && (m["observations"] != nil || m["entityType"] != nil)
	case "relation":
		r := relationOf(m)
		return r.from != "" && r.to != "" && r.typ != ""
	}
	return false
}
