// Package cogx reads and writes COGX 0.1, the exchange format of cognee: a folder, or a packed one, with a manifest and
// a file of JSON Lines for each kind of record.
//
// Memories, blocks and entities become memories, facts relations (and a memory where they say something in words),
// episodes sessions, documents notes. The raw nodes of a graph are not imported, and the file of permissions, which
// holds passwords, is never opened. The files that Amber writes hold everything it knows of a memory.
package cogx

import (
	"bytes"
	"path"
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

const (
	formatName = "cogx"
	version    = "0.1"
	manifest   = "manifest.json"
	nodesFile  = "nodes.jsonl"
)

// Format is the format of cognee.
var Format = foreign.Format{Name: formatName, Title: "COGX (cognee)", Detect: detect, Read: read, Write: write, Folder: true}

// A kind is one of the kinds of records that have a file of their own. They are read in this order: facts need the ends
// that they lead to.
type kind struct{ name, file string }

var kinds = []kind{
	{"memory", "memories.jsonl"},
	{"memory_block", "memory_blocks.jsonl"},
	{"entity", "entities.jsonl"},
	{"document", "documents.jsonl"},
	{"episode", "episodes.jsonl"},
	{"fact", "facts.jsonl"},
}

const headBytes = 64 << 10

func detect(t *foreign.Tree) foreign.Match {
	ok := false
	if f, single := t.Single(); single {
		ok = f.Is(".jsonl") && isRecord(f)
	} else {
		_, ok = root(t)
	}
	return foreign.SureIf(ok)
}

// root returns the folder, with a slash, that holds the manifest: that of the tree, or one in it.
func root(t *foreign.Tree) (string, bool) {
	for _, f := range t.Files() {
		if path.Base(f.Name) != manifest || strings.Count(f.Name, "/") > 1 {
			continue
		}
		if bytes.Contains(f.Head(headBytes), []byte(`"cogx_version"`)) {
			return strings.TrimSuffix(f.Name, manifest), true
		}
	}
	return "", false
}

// isRecord looks at the first line of a file that was given alone.
func isRecord(f foreign.File) bool {
	line, _, _ := bytes.Cut(f.Head(headBytes), []byte("\n"))
	has := func(name string) bool { return bytes.Contains(line, []byte(`"`+name+`"`)) }
	rec, err := foreign.ParseRecord(line)
	if err != nil {
		return len(line) >= headBytes-3 && bytes.HasPrefix(line, []byte("{")) && has("kind") && has("external_system") && has("external_id")
	}
	return rec.Text("external_id") != "" && kindOf(rec.Text("kind")) >= 0
}

func kindOf(name string) int {
	for i, k := range kinds {
		if k.name == name {
			return i
		}
	}
	return -1
}
