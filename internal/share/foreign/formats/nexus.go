package formats

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// nexus is the crash buffer of nexus-memory-hooks, which amber journal import brings into the journal: it may be torn, and its
// events go the way of those of hooks.
var nexus = foreign.Format{Name: "nexus", Title: "nexus-memory-hooks", Detect: detectNexus, Homes: nexusHomes, Next: nextNexus}

// nexusHead is how much of a buffer is looked at: its list of entries begins there.
const nexusHead = 4 << 10

func nexusHomes(env func(string) string, home string) []string {
	data := env("XDG_DATA_HOME")
	if data == "" {
		data = filepath.Join(home, ".local", "share")
	}
	return []string{filepath.Join(data, "nexus", "buffer"), filepath.Join(home, "Library", "Application Support", "nexus", "buffer")}
}

func detectNexus(t *foreign.Tree) foreign.Match {
	if f, ok := t.Single(); ok {
		return foreign.SureIf(isNexusBuffer(f))
	}
	files := slices.DeleteFunc(t.Matching("*.json"), func(f foreign.File) bool { return strings.Contains(f.Name, "/") }) // as journal import reads a folder
	return foreign.SureIf(slices.ContainsFunc(foreign.Looked(files), isNexusBuffer))
}

// isNexusBuffer reports whether a file begins as a buffer does: when it was started, or whose it is, and its entries, each with
// the type of its context. The rest may be torn.
func isNexusBuffer(f foreign.File) bool {
	names := f.Names()
	_, started := names["started_at"].(string)
	_, agent := names["agent_type"].(string)
	if !(started || agent) || names["entries"] != json.Delim('[') {
		return false
	}
	head := f.Head(nexusHead)
	return bytes.Contains(head, []byte(`"context_type"`)) || started && agent
}

func nextNexus(t *foreign.Tree) string { return "amber journal import " + Quoted(t.Path()) }
