// Package letta reads agent files (.af) of Letta and the memory folders of Letta Code, and writes an agent file.
//
// The blocks of an agent become memories, the messages that were in its context a session, and the Markdown of a memory
// folder notes. System prompts, tools and secrets of an agent file are passed over.
package letta

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

const formatName = "letta"

// Format is the format of Letta.
var Format = foreign.Format{Name: formatName, Title: "Letta", Detect: detect, Read: read, Homes: homes, Write: write}

func homes(_ func(string) string, home string) []string {
	return []string{filepath.Join(home, ".letta")}
}

const headBytes = 64 << 10

func detect(t *foreign.Tree) foreign.Match {
	return foreign.SureIf(len(agentFiles(t)) > 0 || len(memoryFiles(t)) > 0)
}

// agentFiles returns the agent files of a tree. A file alone may have any name.
func agentFiles(t *foreign.Tree) (out []foreign.File) {
	_, single := t.Single()
	for _, f := range t.Files() {
		if (f.Is(".af") || single && f.Is(".json")) && isAgentFile(f.Head(headBytes)) {
			out = append(out, f)
		}
	}
	return out
}

// isAgentFile looks for the members that only agent files have. The whole may be written as a JSON string.
func isAgentFile(head []byte) bool {
	head = bytes.TrimSpace(head)
	if bytes.HasPrefix(head, []byte(`"{`)) {
		head = bytes.ReplaceAll(head[1:], []byte(`\"`), []byte(`"`))
	}
	if !bytes.HasPrefix(head, []byte("{")) {
		return false
	}
	has := func(names ...string) bool {
		for _, n := range names {
			if bytes.Contains(head, []byte(`"`+n+`"`)) {
				return true
			}
		}
		return false
	}
	return has("agents") && has("block_ids", "in_context_message_ids", "agent_type", "mcp_servers") ||
		has("core_memory") && has("agent_type", "in_context_message_indices", "messages", "llm_config")
}

// memoryFiles returns the files of the memory folders of Letta Code: below agents/ID/memory of its home, or of a folder
// of such a memory itself.
func memoryFiles(t *foreign.Tree) (out []memoryFile) {
	for _, f := range t.Files() {
		if m, ok := inMemory(f); ok {
			out = append(out, m)
		}
	}
	if len(out) > 0 || !isMemory(t) {
		return out
	}
	for _, f := range t.Files() {
		if f.Is(".md") && f.Name[0] != '.' {
			out = append(out, memoryFile{f, "", strings.TrimPrefix(f.Name, "memory/")})
		}
	}
	return out
}

// memoryFile is a document of an agent.
type memoryFile struct {
	foreign.File
	agent, path string
}

func inMemory(f foreign.File) (memoryFile, bool) {
	parts := strings.Split(f.Name, "/")
	for i := 0; i+4 <= len(parts); i++ {
		if parts[i] == "agents" && strings.HasPrefix(parts[i+1], "agent-") && parts[i+2] == "memory" && f.Is(".md") && i <= 2 {
			return memoryFile{f, parts[i+1], strings.Join(parts[i+3:], "/")}, true
		}
	}
	return memoryFile{}, false
}

// isMemory reports whether a tree is the memory folder of one agent: its folder system holds files whose head has a
// description, and nothing that Letta does not write.
func isMemory(t *foreign.Tree) bool {
	seen := 0
	for _, f := range append(t.Under("system"), t.Under("memory/system")...) {
		if !f.Is(".md") {
			continue
		}
		front, _, err := foreign.SplitFront(f.Head(headBytes))
		if err != nil || front.Text("description") == "" {
			return false
		}
		for key := range front {
			if key != "description" && key != "read_only" && key != "limit" && key != "metadata" {
				return false
			}
		}
		if seen++; seen == 5 {
			break
		}
	}
	return seen > 0
}
