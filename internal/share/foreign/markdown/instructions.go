package markdown

import (
	"bytes"
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// instructionFiles are the files that agents read before they begin, by their name in lower case.
var instructionFiles = map[string]bool{
	"agents.md": true, "agents.override.md": true, "claude.md": true, "claude.local.md": true, "gemini.md": true, ".cursorrules": true,
}

// ruleFolders hold more of them.
var ruleFolders = []string{".cursor/rules/", ".claude/rules/"}

// addedMemories is the part of GEMINI.md that Gemini wrote.
const addedMemories = "## Gemini Added Memories"

// isInstruction reports whether a file tells agents what to do.
func isInstruction(name string) bool {
	if instructionFiles[strings.ToLower(path.Base(name))] {
		return true
	}
	for _, folder := range ruleFolders {
		if strings.Contains("/"+name, "/"+folder) && (strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".mdc")) {
			return true
		}
	}
	return false
}

// homesOfOthers are files that show that a tree is the home of a program, which has a format of its own.
var homesOfOthers = []string{
	"projects/*/*.jsonl", "chats/*.jsonl", "chats/session-*.json", "agent-transcripts/*/*.jsonl", "agent-transcripts/*.jsonl",
	"rollout-*.jsonl", "rollout-*.jsonl.zst", "rollout_summaries/*.md", "memory/MEMORY.md",
}

// isInstructions is sure of one such file, and of a folder that holds some and is nothing else.
func isInstructions(t *foreign.Tree) foreign.Match {
	if f, ok := t.Single(); ok {
		if isInstruction(f.Name) && !isGeminis(f) {
			return foreign.Sure
		}
		return foreign.No
	}
	root, found := rootOf(t), false
	for _, f := range t.Files() {
		name := strings.TrimPrefix(f.Name, root)
		if strings.HasPrefix(name, ".claude/") {
			return foreign.No
		}
		top := strings.HasPrefix(name, ".cursor/rules/") || !strings.Contains(name, "/")
		found = found || top && isInstruction(name) && !isGeminis(f)
	}
	if !found || isVault(t) == foreign.Sure || isBasicMemory(t) == foreign.Sure {
		return foreign.No
	}
	for _, pattern := range homesOfOthers {
		if len(t.Matching(pattern)) > 0 {
			return foreign.No
		}
	}
	return foreign.Sure
}

// isGeminis reports whether a file is a GEMINI.md to which Gemini has added.
func isGeminis(f foreign.File) bool {
	return strings.EqualFold(path.Base(f.Name), "GEMINI.md") && bytes.Contains(f.Head(64<<10), []byte(addedMemories))
}

// rootOf returns the folder, with a slash, that holds everything in an archive made of one folder; "" for none.
func rootOf(t *foreign.Tree) string {
	files := t.Files()
	if len(files) == 0 {
		return ""
	}
	first, _, ok := strings.Cut(files[0].Name, "/")
	if !ok || strings.HasPrefix(first, ".") {
		return ""
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name, first+"/") {
			return ""
		}
	}
	return first + "/"
}

// readInstructions makes a note of each file: standing orders of a person are no memories.
func readInstructions(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	root := rootOf(t)
	project := foreign.NoteName(strings.ReplaceAll(projectOf(t, root, o), "/", "-"))
	for _, f := range t.Files() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !isInstruction(f.Name) {
			continue
		}
		at := foreign.Place{File: f.Name}
		b, err := f.Bytes(maxFile)
		if err != nil {
			to.Skip(at, "%v", err)
			continue
		}
		text := string(b)
		if strings.EqualFold(path.Base(f.Name), "GEMINI.md") {
			text = handWritten(text)
		}
		name := "instructions/" + project + "/" + foreign.NoteName(strings.TrimPrefix(f.Name, root))
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := to.Note(foreign.Note{Place: at, Name: name, Content: text, UpdatedAt: f.ModifiedAt()}); err != nil {
			return err
		}
	}
	return nil
}

// projectOf names the project that a tree is of.
func projectOf(t *foreign.Tree, root string, o foreign.Options) string {
	dir := t.Path()
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if _, single := t.Single(); single {
		dir = filepath.Dir(dir)
	} else if root != "" {
		dir = filepath.Join(dir, filepath.FromSlash(root))
	}
	if project := o.ProjectFor(dir); project != "" {
		return project
	}
	base := filepath.Base(dir)
	return strings.TrimSuffix(base, path.Ext(base))
}

// handWritten returns GEMINI.md without the memories that Gemini added.
func handWritten(text string) string {
	var out strings.Builder
	added := false
	for line := range strings.SplitAfterSeq(text, "\n") {
		if strings.HasPrefix(line, "## ") {
			added = strings.TrimSpace(line) == addedMemories
		}
		if !added {
			out.WriteString(line)
		}
	}
	return out.String()
}
