package formats_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/formats"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	engramTables = `CREATE TABLE sessions (id TEXT); CREATE TABLE user_prompts (id INTEGER);
CREATE TABLE observations (id INTEGER, session_id TEXT, type TEXT, title TEXT, content TEXT, revision_count INTEGER)`
	nexoTables = `CREATE TABLE memories (id TEXT PRIMARY KEY, agent_id TEXT, content TEXT, tags TEXT, created_at INTEGER, concept_tags TEXT, memory_type TEXT)`
	aBuffer    = `{"started_at":"2026-01-02T03:00:00Z","entries":[{"timestamp":"2026-01-02T03:00:03Z","context_type":"checkpoint","context":{}}`
)

// The import recognises files that have an importer of their own by their content, whatever they are called, and its
// error names the command.
func TestFormatsOfOtherCommandsAreRecognised(t *testing.T) {
	t.Parallel()
	engram := must.Get(filepath.Abs("../engram/testdata/basic"))(t)
	bundle := must.Get(os.ReadFile("../../../freeze/bundle/testdata/nexo/plain.tar.zst"))(t)
	backup := must.Get(os.ReadFile(filepath.Join(engram, "export.json")))(t)
	for name, c := range map[string]struct{ path, format, next string }{
		"folder of Engram":     {engram, "engram", "amber sync import --format engram --dir " + engram},
		"backup of Engram":     {filepath.Join(foreigntest.Files(t, map[string]string{"b": string(backup)}), "b"), "engram", "amber sync import --format engram --dir "},
		"backup in a zip file": {zipped(t, "export.json", backup), "engram", "unpack the archive, then amber import export.json"},
		"folder of a zip file": {filepath.Dir(zipped(t, "export.json", backup)), "engram", "unpack the archive, then amber import export.json"},
		"database of Engram":   {foreigntest.Database(t, "engram.db", engramTables), "engram", "engram export backup.json && amber import backup.json"},
		"a database alone":     {filepath.Join(foreigntest.Database(t, "copy", engramTables), "copy"), "engram", "engram export backup.json && amber import backup.json"},
		"bundle of nexo":       {filepath.Join(foreigntest.Files(t, map[string]string{"b.bin": string(bundle)}), "b.bin"), "nexo", "amber bundle import "},
		"folder of bundles":    {foreigntest.Files(t, map[string]string{"a/1.tar.zst": string(bundle)}), "nexo", "1.tar.zst"},
		"databases of nexo":    {foreigntest.Database(t, "long_term.sqlite", nexoTables), "nexo", "nexo memory snapshot"},
		"torn buffer of nexus": {filepath.Join(foreigntest.Files(t, map[string]string{"x": aBuffer}), "x"), "nexus", "amber journal import "},
		"folder of buffers":    {foreigntest.Files(t, map[string]string{"a.json": "{}", "codex.json": aBuffer}), "nexus", "amber journal import "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := must.Get(foreign.Open(c.path))(t)
			defer tree.Close()
			f := must.Get(transfer.Detect(tree, formats.Read()))(t)
			must.Equal(t, "format", f.Name, c.format)
			_, err := transfer.Import(t.Context(), amber.Store{}, f, tree, transfer.Options{})
			must.Kind(t, "import", err, amber.KindUnsupported)
			if hint := amber.HintOf(err); !strings.Contains(hint, c.next) {
				t.Errorf("hint is %q, want %q in it", hint, c.next)
			}
		})
	}
}

// A work tree with a folder of Engram has files of others, too, which may be meant.
func TestAWorkTreeWithEngramAndInstructionsAsksWhichIsMeant(t *testing.T) {
	t.Parallel()
	manifest := `{"version":1,"chunks":null}`
	alone := must.Get(foreign.Open(foreigntest.Files(t, map[string]string{".engram/manifest.json": manifest, "main.go": "package main"})))(t)
	defer alone.Close()
	must.Equal(t, "format of a work tree", must.Get(transfer.Detect(alone, formats.Read()))(t).Name, "engram")
	both := must.Get(foreign.Open(foreigntest.Files(t, map[string]string{".engram/manifest.json": manifest, ".claude/rules/a.md": "# A"})))(t)
	defer both.Close()
	f, err := transfer.Detect(both, formats.Read())
	if err == nil && f.Name == "engram" {
		t.Errorf("format is %s, want another or a question", f.Name)
	}
}

// Files that look a little like those of the three are left to others.
func TestFormatsOfOtherCommandsClaimNothingElse(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"another manifest": `{"version":"0.1","chunks":{}}`, "a list of entries": `{"entries":[]}`, "an export of others": `{"version":1,"exported_at":"x","sessions":[]}`,
		"an archive": "\x28\xb5\x2f\xfd nothing", "an encrypted file": "age-encryption.org/v1\n-> X25519 a", "nothing": "",
	} {
		dir := foreigntest.Files(t, map[string]string{"manifest.json": text})
		for _, path := range []string{dir, filepath.Join(dir, "manifest.json")} {
			tree := must.Get(foreign.Open(path))(t)
			for _, f := range formats.Read() {
				if f.Next != nil && f.Detect(tree) != foreign.No {
					t.Errorf("%s: %s claims %s", name, f.Name, path)
				}
			}
			must.Do(t, tree.Close())
		}
	}
}

// zipped returns the path of a zip file that holds one file.
func zipped(t *testing.T, name string, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	_ = must.Get(must.Get(z.Create(name))(t).Write(text))(t)
	must.Do(t, z.Close())
	return filepath.Join(foreigntest.Files(t, map[string]string{"a.zip": b.String()}), "a.zip")
}
