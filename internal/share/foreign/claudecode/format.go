// Package claudecode reads what Claude Code keeps: memories, the transcripts of sessions and of their subagents, and the
// instructions that people write for it. It writes memories for Claude Code to read.
//
// A transcript can have hundreds of megabytes. It is read twice: the first time only who follows whom is kept, a few
// bytes a line, and the second time the lines that belong to the conversation become turns.
package claudecode

import (
	"path/filepath"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// name is in ids and links, so it never changes.
const name = "claude-code"

// Format is the format of Claude Code.
var Format = foreign.Format{
	Name: name, Title: "Claude Code", Detect: detect, Read: read, Homes: homes, Write: write, Folder: true,
}

// homes returns the home of the program, and where its settings put memories.
func homes(env func(string) string, home string) []string {
	dir := env("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = filepath.Join(home, ".claude")
	}
	return append([]string{dir}, foreign.Places(home, foreign.Settings(filepath.Join(dir, "settings.json")).Text("autoMemoryDirectory"))...)
}
