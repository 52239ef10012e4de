// Package markdown reads folders of Markdown: those of basic-memory, vaults of Obsidian, any other folder, and the
// files in which people write instructions for agents. It writes a folder that basic-memory reads.
//
// Every file becomes a note. basic-memory takes more out of a text: lines that say something (observations) and links
// (relations). They become memories, and one memory for the file itself, the anchor, holds them together.
package markdown

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// BasicMemory is a folder of basic-memory.
var BasicMemory = foreign.Format{
	Name: "basic-memory", Title: "basic-memory", Detect: isBasicMemory, Homes: basicMemoryHomes,
	Read: func(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
		return read(ctx, t, o, to, true)
	},
	Write: write, Folder: true,
}

// Obsidian is a vault of Obsidian.
var Obsidian = foreign.Format{
	Name: "obsidian", Title: "Obsidian", Detect: isVault,
	Read: func(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
		return read(ctx, t, o, to, o.Observations)
	},
}

// Folder is any folder of Markdown.
var Folder = foreign.Format{
	Name: "markdown", Title: "Markdown folder", Detect: isFolder,
	Read: func(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
		return read(ctx, t, o, to, o.Observations)
	},
}

// Instructions are the files of a project that tell agents what to do.
var Instructions = foreign.Format{
	Name: "instructions", Title: "Instructions for agents (AGENTS.md, CLAUDE.md, rules)", Detect: isInstructions,
	Read: readInstructions,
}

// basicMemoryHomes returns the home of the program, and the folders of its other projects.
func basicMemoryHomes(env func(string) string, home string) []string {
	places := []string{cmp.Or(env("BASIC_MEMORY_HOME"), filepath.Join(home, "basic-memory"))}
	projects := foreign.Settings(filepath.Join(home, ".basic-memory", "config.json")).Sub("projects")
	for _, name := range slices.Sorted(maps.Keys(projects)) {
		places = append(places, projects.Text(name), projects.Sub(name).Text("path"))
	}
	return foreign.Places(home, places...)
}
