// Package formats lists every format that Amber reads or writes.
package formats

import (
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/chatgpt"
	"github.com/amber-memory/amber/internal/share/foreign/claudeai"
	"github.com/amber-memory/amber/internal/share/foreign/claudecode"
	"github.com/amber-memory/amber/internal/share/foreign/claudemem"
	"github.com/amber-memory/amber/internal/share/foreign/codex"
	"github.com/amber-memory/amber/internal/share/foreign/cogx"
	"github.com/amber-memory/amber/internal/share/foreign/cursor"
	"github.com/amber-memory/amber/internal/share/foreign/gemini"
	"github.com/amber-memory/amber/internal/share/foreign/graphiti"
	"github.com/amber-memory/amber/internal/share/foreign/jsonl"
	"github.com/amber-memory/amber/internal/share/foreign/langgraph"
	"github.com/amber-memory/amber/internal/share/foreign/letta"
	"github.com/amber-memory/amber/internal/share/foreign/markdown"
	"github.com/amber-memory/amber/internal/share/foreign/mcpmemory"
	"github.com/amber-memory/amber/internal/share/foreign/mcpservice"
	"github.com/amber-memory/amber/internal/share/foreign/mem0"
	"github.com/amber-memory/amber/internal/share/foreign/memobase"
	"github.com/amber-memory/amber/internal/share/foreign/memos"
	"github.com/amber-memory/amber/internal/share/foreign/openaiagents"
	"github.com/amber-memory/amber/internal/share/foreign/plain"
	"github.com/amber-memory/amber/internal/share/foreign/supermemory"
)

// All returns every format, those that most people have first.
func All() []foreign.Format {
	return []foreign.Format{
		claudecode.Format, chatgpt.Format, claudeai.Format, claudemem.Format, mcpmemory.Format, mem0.Mem0, mem0.OpenMemory,
		codex.Format, markdown.BasicMemory, markdown.Obsidian, markdown.Instructions, markdown.Folder,
		gemini.Format, cursor.Format, mcpservice.Format, letta.Format, cogx.Format, graphiti.Format, supermemory.Format,
		openaiagents.Format, langgraph.Format, memos.Format, memobase.Format,
		Engram, nexo, nexus,
		jsonl.Format, plain.Format,
	}
}

// Read returns the formats that can be imported, also those that have an importer of their own.
func Read() []foreign.Format {
	return choose(func(f foreign.Format) bool { return f.Read != nil || f.Next != nil })
}

// Written returns the formats that can be exported.
func Written() []foreign.Format {
	return choose(func(f foreign.Format) bool { return f.Write != nil })
}

func choose(keep func(foreign.Format) bool) (out []foreign.Format) {
	for _, f := range All() {
		if keep(f) {
			out = append(out, f)
		}
	}
	return out
}

// also are other names of formats, where no format among those asked has the name itself.
var also = map[string]string{
	"jsonl": "amber", "text": "plain", "txt": "plain", "markdown": "basic-memory", "obsidian": "basic-memory", "af": "letta", "memfs": "letta",
	"cognee": "cogx", "mcp": "mcp-memory", "zep": "graphiti", "claude": "claude-code", "openai": "chatgpt", "nexus-memory-hooks": "nexus",
}

// Find returns the format of a name among some. Errors: invalid, with the names there are.
func Find(name string, among []foreign.Format) (foreign.Format, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, n := range []string{name, also[name]} {
		for _, f := range among {
			if f.Name == n {
				return f, nil
			}
		}
	}
	return foreign.Format{}, amber.Errorf(amber.KindInvalid, "find format", "", "format is %.40q, want one of %s", name, Names(among))
}

// Names returns the names of formats as a list.
func Names(formats []foreign.Format) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}
