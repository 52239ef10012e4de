package markdown

import (
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// Bounds of what the detection of a folder reads.
const (
	headBytes = 16 << 10
	headFiles = 20
)

func isMarkdown(f foreign.File) bool { return f.Is(".md", ".markdown") && !isHidden(f.Name) }

// isHidden reports whether a file or a folder above it has a name that begins with a dot.
func isHidden(name string) bool { return name[0] == '.' || strings.Contains(name, "/.") }

// documents returns the Markdown files of a tree.
func documents(t *foreign.Tree) (out []foreign.File) {
	for _, f := range t.Files() {
		if isMarkdown(f) {
			out = append(out, f)
		}
	}
	return out
}

func isFolder(t *foreign.Tree) foreign.Match {
	if len(documents(t)) > 0 {
		return foreign.Fallback
	}
	return foreign.No
}

func isVault(t *foreign.Tree) foreign.Match {
	return foreign.SureIf(len(t.Under(".obsidian")) > 0 || len(t.Matching(".obsidian/app.json")) > 0)
}

// isBasicMemory looks for the head that basic-memory gives its files. They are looked at from all over the folder, as
// people keep other files there too.
func isBasicMemory(t *foreign.Tree) foreign.Match {
	files := documents(t)
	step := max(1, len(files)/headFiles)
	for i := 0; i < len(files); i += step {
		front, _, err := foreign.SplitFront(files[i].Head(headBytes))
		if err == nil && isNote(front) {
			return foreign.Sure
		}
	}
	return foreign.No
}

// isNote distinguishes the head of basic-memory from that of pages of web sites, which have permalinks, too.
func isNote(front foreign.Front) bool {
	link := front.Text("permalink")
	site := strings.HasPrefix(link, "/") || strings.Contains(link, ":") || front["layout"] != nil
	return !site && link != "" && (front["title"] != nil || front["type"] != nil) || isExported(front) || exportedNote(front) != ""
}
