package mcpapi_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// TestTheFilesToolKeepsItsContract goes through the commands of the file-style
// memory tool, word for word.
func TestTheFilesToolKeepsItsContract(t *testing.T) {
	t.Parallel()
	c := newRig(t).local("files")
	const dir = "Here're the files and directories up to 2 levels deep in "
	const rest = ", excluding hidden items and node_modules:\n"
	for i, step := range []struct {
		args object
		want string // exactly; of an error when it begins with "!"
	}{
		{object{"command": "view", "path": "/memories"}, dir + "/memories" + rest + "0B\t/memories"},
		{object{"command": "create", "path": "/memories/progress.md", "file_text": "one\ntwo\nthree\nfour\nfive\n"}, "File created successfully at: /memories/progress.md"},
		{object{"command": "create", "path": "/memories/progress", "file_text": "x"}, "!Error: File /memories/progress already exists"},
		{object{"command": "create", "path": "/memories/deep/er/notes.txt", "file_text": "hidden"}, "File created successfully at: /memories/deep/er/notes.txt"},
		{object{"command": "create", "path": "/memories/deep", "file_text": "x"}, "!Error: File /memories/deep already exists"},
		{object{"command": "view", "path": "/memories/"}, dir + "/memories" + rest + "30B\t/memories\n6B\t/memories/deep\n6B\t/memories/deep/er\n24B\t/memories/progress.md"},
		{object{"command": "view", "path": "/memories/deep"}, dir + "/memories/deep" + rest + "6B\t/memories/deep\n6B\t/memories/deep/er\n6B\t/memories/deep/er/notes.txt"},
		{object{"command": "view", "path": "/memories/progress.md"}, "Here's the content of /memories/progress.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour\n     5\tfive"},
		{object{"command": "view", "path": "/memories/progress", "view_range": []any{2, 3}}, "Here's the content of /memories/progress with line numbers:\n     2\ttwo\n     3\tthree"},
		{object{"command": "view", "path": "/memories/progress", "view_range": []any{5, -1}}, "Here's the content of /memories/progress with line numbers:\n     5\tfive"},
		{object{"command": "view", "path": "/memories/none"}, "!The path /memories/none does not exist. Please provide a valid path."},
		{object{"command": "str_replace", "path": "/memories/progress.md", "old_str": "three", "new_str": "3"}, "The memory file has been edited.\n     1\tone\n     2\ttwo\n     3\t3\n     4\tfour\n     5\tfive"},
		{object{"command": "str_replace", "path": "/memories/progress.md", "old_str": "six", "new_str": "6"}, "!No replacement was performed, old_str `six` did not appear verbatim in /memories/progress.md."},
		{object{"command": "str_replace", "path": "/memories/progress.md", "old_str": "o", "new_str": "0"}, "!No replacement was performed. Multiple occurrences of old_str `o` in lines: 1, 2, 4. Please ensure it is unique"},
		{object{"command": "str_replace", "path": "/memories/deep", "old_str": "o"}, "!Error: The path /memories/deep does not exist. Please provide a valid path."},
		{object{"command": "insert", "path": "/memories/progress.md", "insert_line": 0, "insert_text": "zero\n"}, "The file /memories/progress.md has been edited."},
		{object{"command": "insert", "path": "/memories/progress.md", "insert_line": 6, "insert_text": "six"}, "The file /memories/progress.md has been edited."},
		{object{"command": "insert", "path": "/memories/progress.md", "insert_line": 9, "insert_text": "x"}, "!Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 7]"},
		{object{"command": "insert", "path": "/memories/none.md", "insert_line": 0, "insert_text": "x"}, "!Error: The path /memories/none.md does not exist"},
		{object{"command": "view", "path": "/memories/progress.md"}, "Here's the content of /memories/progress.md with line numbers:\n     1\tzero\n     2\tone\n     3\ttwo\n     4\t3\n     5\tfour\n     6\tfive\n     7\tsix"},
		{object{"command": "rename", "old_path": "/memories/none", "new_path": "/memories/x"}, "!Error: The path /memories/none does not exist"},
		{object{"command": "rename", "old_path": "/memories/deep", "new_path": "/memories/progress.md"}, "!Error: The destination /memories/progress.md already exists"},
		{object{"command": "rename", "old_path": "/memories/deep", "new_path": "/memories/flat"}, "Successfully renamed /memories/deep to /memories/flat"},
		{object{"command": "view", "path": "/memories/flat/er/notes.txt"}, "Here's the content of /memories/flat/er/notes.txt with line numbers:\n     1\thidden"},
		{object{"command": "delete", "path": "/memories/deep"}, "!Error: The path /memories/deep does not exist"},
		{object{"command": "delete", "path": "/memories/flat"}, "Successfully deleted /memories/flat"},
		{object{"command": "delete", "path": "/memories/progress"}, "Successfully deleted /memories/progress"},
		{object{"command": "view", "path": "/memories"}, dir + "/memories" + rest + "0B\t/memories"},
	} {
		res := c.try("memory", step.args)
		want, fails := strings.CutPrefix(step.want, "!")
		if got := textOf(res); got != want || res.IsError != fails {
			t.Errorf("step %d, %v: error %v\n%s\nwant\n%s", i, step.args, res.IsError, got, want)
		}
	}
}

// TestPathsStayInTheFolder tries paths that lead elsewhere, and names no note
// can have.
func TestPathsStayInTheFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.local("files")
	for _, path := range []string{
		"", "/", "memories/x", "/memoriesx", "/etc/passwd", "/memories/../x", "/memories/a/../../x", "/memories//x", "/memories/./x",
		"/memories/.git/config", "/memories/%2e%2e/x", `/memories/..\x`, "/memories/a\x00b", "/memories/con", "/memories/a:b", "/memories/" + strings.Repeat("a", 300),
	} {
		for _, args := range []object{
			{"command": "view", "path": path},
			{"command": "create", "path": path, "file_text": "x"},
			{"command": "delete", "path": path},
			{"command": "str_replace", "path": path, "old_str": "x"},
			{"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"},
			{"command": "rename", "old_path": path, "new_path": "/memories/x"},
			{"command": "rename", "old_path": "/memories/x", "new_path": path},
		} {
			if kind, text := c.fails("memory", args); kind != amber.KindInvalid || len(text) > 400 {
				t.Errorf("%v: %s: %s", args, kind, text)
			}
		}
	}
	for _, args := range []object{
		{"command": "delete", "path": "/memories"},
		{"command": "create", "path": "/memories/x", "file_text": " \n"},
		{"command": "create", "path": "/memories/x"},
		{"command": "create", "path": "/memories", "file_text": "x"},
		{"command": "view", "path": "/memories/x", "view_range": []any{1, 2, 3}},
	} {
		c.fails("memory", args)
	}
	must.Equal(t, "notes", len(must.Get(r.store().Notes.ListNotes(t.Context()))(t)), 0)
}

func TestLongNotesAreCut(t *testing.T) {
	t.Parallel()
	c := newRig(t).local("files")
	c.call("memory", object{"command": "create", "path": "/memories/long", "file_text": strings.Repeat("a line of some length\n", 4000)})
	_, text := c.call("memory", object{"command": "view", "path": "/memories/long"})
	if len(text) > 40<<10 || !strings.Contains(text, "[cut: call again with view_range [") {
		t.Errorf("a view has %d bytes, and ends with %q", len(text), text[len(text)-60:])
	}
}

// TestReadersOnlyLook gives the files tool to a caller that may only read.
func TestReadersOnlyLook(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.session(r.options("files"), holder("default", "default", wire.TokenRead), "default", "default")
	c.call("memory", object{"command": "view", "path": "/memories"})
	c.failsAs("creating", amber.KindRefused, "memory", object{"command": "create", "path": "/memories/x", "file_text": "x"})
	if e := r.audit.Cut(0); len(e) != 1 || e[0].Outcome != "refused" {
		t.Errorf("written down %+v", e)
	}
}
