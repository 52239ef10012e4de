package gitsync_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// engramClone is a person with a folder of Engram.
func engramClone(t *testing.T) *clone {
	t.Helper()
	return cloneAt(t, t.TempDir(), gitsync.Options{Format: wire.SyncEngram})
}

// vectors are folders that the real program wrote.
var vectors = []string{"basic", "edits", "multi", "unicode"}

// take copies a vector into the folder.
func (c *clone) take(vector string) {
	c.t.Helper()
	from := filepath.Join("..", "foreign", "engram", "testdata", vector)
	must.Do(c.t, os.CopyFS(c.folder, os.DirFS(from)))
	must.Do(c.t, os.RemoveAll(filepath.Join(c.folder, "export.json")))
}

// backup is the JSON export that belongs to a vector.
type backup struct {
	Sessions     []struct{ ID string }
	Observations []struct {
		Title, Content, Scope string
		DeletedAt             *string `json:"deleted_at"`
	}
	Prompts []struct{ Content string }
}

func readBackup(t *testing.T, vector string) (b backup) {
	t.Helper()
	raw := must.Get(os.ReadFile(filepath.Join("..", "foreign", "engram", "testdata", vector, "export.json")))(t)
	must.Do(t, json.Unmarshal(raw, &b))
	return b
}

func (b backup) live() (texts []string) {
	for _, o := range b.Observations {
		if o.DeletedAt == nil {
			texts = append(texts, o.Content)
		}
	}
	return texts
}

// chunkIDs returns the ids in the folder's manifest, in order.
func (c *clone) chunkIDs() (ids []string) {
	c.t.Helper()
	var m struct{ Chunks []struct{ ID string } }
	must.Do(c.t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(c.folder, "manifest.json")))(c.t), &m))
	for _, e := range m.Chunks {
		ids = append(ids, e.ID)
	}
	return ids
}

func TestVectorsComeInWithEveryRow(t *testing.T) {
	t.Parallel()
	for _, vector := range vectors {
		t.Run(vector, func(t *testing.T) {
			t.Parallel()
			c := engramClone(t)
			c.take(vector)
			want := readBackup(t, vector)
			r := c.imports()
			if len(r.Quarantined) != 0 || r.Sessions != len(want.Sessions) || r.Observations != len(want.Observations) || r.Prompts != len(want.Prompts) {
				t.Errorf("import: %+v", r)
			}
			wantTexts(t, c, want.live()...)
			for _, s := range want.Sessions {
				must.Get(c.Session(t.Context(), amber.SessionID(s.ID)))(t)
			}
			if again := c.imports(); again.Chunks != 0 || again.Observations != 0 {
				t.Errorf("a second import: %+v", again)
			}
			c.exportsNothing()
		})
	}
}

// Unicode holds a personal memory and edits a deleted one: those stay, so the
// chunk is another one.
func TestVectorsGoOutWithTheSameIDs(t *testing.T) {
	t.Parallel()
	for vector, same := range map[string]bool{"basic": true, "multi": true, "edits": false, "unicode": false} {
		t.Run(vector, func(t *testing.T) {
			t.Parallel()
			c := engramClone(t)
			c.take(vector)
			c.imports()
			fresh := filepath.Join(t.TempDir(), ".engram")
			s := must.Get(gitsync.Open(c.Store, fresh))(t)
			r := must.Get(s.Export(t.Context(), gitsync.ExportOptions{CreatedBy: "dev-a"}))(t)
			want, got := c.chunkIDs(), slices.Clone(r.ChunkIDs)
			slices.Sort(want)
			slices.Sort(got)
			if same != slices.Equal(want, got) {
				t.Errorf("exported %v, they came as %v", got, want)
			}
			if again, err := s.Export(t.Context(), gitsync.ExportOptions{}); err != nil || !again.IsEmpty {
				t.Errorf("a second export: %+v, %v", again, err)
			}
			reader := engramClone(t)
			back := must.Get(gitsync.Open(reader.Store, fresh))(t)
			must.Get(back.Import(t.Context()))(t)
			wantTexts(t, reader, sharedTexts(readBackup(t, vector))...)
		})
	}
}

func sharedTexts(b backup) (texts []string) {
	for _, o := range b.Observations {
		if o.DeletedAt == nil && o.Scope != "personal" {
			texts = append(texts, o.Content)
		}
	}
	return texts
}

func TestConflictInTheManifestIsRepaired(t *testing.T) {
	t.Parallel()
	c := engramClone(t)
	c.take("multi")
	raw := must.Get(os.ReadFile(filepath.Join(c.folder, "manifest.json")))(t)
	second := strings.Index(string(raw), `    {`+"\n"+`      "id": "36a6011c"`)
	third := strings.Index(string(raw), `    {`+"\n"+`      "id": "e9bddbc1"`)
	end := strings.Index(string(raw), "\n  ]")
	conflict := string(raw[:second]) + "<<<<<<< HEAD\n" + strings.TrimSuffix(strings.TrimSpace(string(raw[second:third])), ",") +
		"\n=======\n" + string(raw[third:end]) + "\n>>>>>>> theirs\n" + string(raw[end:])
	c.put("manifest.json", []byte(conflict))
	r := c.imports()
	must.Equal(t, "import over a conflict", r.Chunks, 3)
	wantTexts(t, c, readBackup(t, "multi").live()...)
	fixed, err := c.sync.Repair(t.Context())
	if err != nil || fixed.Chunks != 3 || len(fixed.Repaired) == 0 || fixed.Backup == "" {
		t.Errorf("repair: %+v, %v", fixed, err)
	}
	after := must.Get(os.ReadFile(filepath.Join(c.folder, "manifest.json")))(t)
	must.Equal(t, "the manifest after the repair", string(after), string(raw))
	must.Equal(t, "a second repair", len(must.Get(c.sync.Repair(t.Context()))(t).Repaired), 0)
}

func TestEmptyManifestIsRepaired(t *testing.T) {
	t.Parallel()
	c := engramClone(t)
	c.take("multi")
	c.put("manifest.json", nil)
	must.Equal(t, "import", c.imports().Chunks, 3)
	wantTexts(t, c, readBackup(t, "multi").live()...)
	c.shares("a new one")
	must.Equal(t, "chunks of the manifest after an export", len(c.chunkIDs()), 4)
}

func TestAlteredEngramChunksAreNotImported(t *testing.T) {
	t.Parallel()
	rezip := func(b []byte) []byte { return zip(t, strings.Replace(unzip(t, b), "alpha", "ALPHA", 1)) }
	flip := func(b []byte) []byte { b = bytes.Clone(b); b[len(b)-6] ^= 1; return b } // gzip's checksum
	for name, alter := range map[string]func([]byte) []byte{
		"6: altered and zipped again": rezip,
		"6b: checksum broken":         flip,
		"6c: cut off":                 func(b []byte) []byte { return b[:len(b)/2] },
		"6c: empty":                   func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := engramClone(t)
			c.take("multi")
			const name = "chunks/1b7efed1.jsonl.gz"
			c.put(name, alter(must.Get(os.ReadFile(filepath.Join(c.folder, name)))(t)))
			r := c.imports()
			if len(r.Quarantined) != 1 || r.Quarantined[0].ID != "1b7efed1" || r.Quarantined[0].Kind != amber.KindDamaged || r.Chunks != 2 {
				t.Errorf("import: %+v", r)
			}
			wantTexts(t, c, "beta content two", "gamma content three")
			if st := c.status(); st.Damaged != 1 || st.Local != 2 {
				t.Errorf("status: %+v", st)
			}
		})
	}
}

func unzip(t *testing.T, b []byte) string {
	t.Helper()
	r := must.Get(gzip.NewReader(bytes.NewReader(b)))(t)
	var text bytes.Buffer
	must.Get(text.ReadFrom(r))(t)
	return text.String()
}

func TestManifestOutOfTheFolderIsNotFollowed(t *testing.T) {
	t.Parallel()
	c := engramClone(t)
	c.take("basic")
	outside := must.Get(os.ReadFile(filepath.Join(c.folder, "chunks", "8e3713a4.jsonl.gz")))(t)
	must.Do(t, os.WriteFile(filepath.Join(filepath.Dir(filepath.Dir(c.folder)), "outside.jsonl.gz"), outside, 0o644))
	os.RemoveAll(filepath.Join(c.folder, "chunks"))
	os.Remove(filepath.Join(c.folder, "manifest.json"))
	c.put("manifest.json", []byte(`{"version":1,"chunks":[{"id":"../../../outside","created_by":"x","created_at":"2026-01-01T00:00:00Z","sessions":1,"memories":2,"prompts":1}]}`))
	r := c.imports()
	must.Equal(t, "import: chunks", r.Chunks, 0)
	must.Equal(t, "import: quarantined", len(r.Quarantined), 1)
	wantTexts(t, c)
}

func TestTakenIDIsNotOverwritten(t *testing.T) {
	t.Parallel()
	a := engramClone(t)
	a.save("the first export of one row")
	first := a.export(gitsync.ExportOptions{}).ChunkID
	// The same row in a store that never exported it, and a chunk of another writer where its id would be.
	b := engramClone(t)
	b.take("basic")
	taken := first + ".jsonl.gz"
	must.Do(t, os.Rename(filepath.Join(b.folder, "chunks", "8e3713a4.jsonl.gz"), filepath.Join(b.folder, "chunks", taken)))
	over := must.Get(gitsync.Open(a.Store, b.folder))(t)
	r, err := over.Export(t.Context(), gitsync.ExportOptions{})
	if err != nil || r.IsEmpty || r.ChunkID == first {
		t.Errorf("export where the id %s is taken: %+v, %v", first, r, err)
	}
}

func TestManifestOfAnUnknownVersionIsTooNew(t *testing.T) {
	t.Parallel()
	c := engramClone(t)
	c.put("manifest.json", []byte(`{"version":99,"chunks":null}`))
	must.Fail(c.sync.Import(t.Context()))(t, "import", amber.KindTooNew)
	c.save("x")
	must.Fail(c.sync.Export(t.Context(), gitsync.ExportOptions{}))(t, "export", amber.KindTooNew)
}

func TestBackupImportedTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	for _, vector := range vectors {
		t.Run(vector, func(t *testing.T) {
			t.Parallel()
			c := engramClone(t)
			for range 2 {
				file := filepath.Join("..", "foreign", "engram", "testdata", vector, "export.json")
				s := must.Get(gitsync.Options{Format: wire.SyncEngram}.Open(c.Store, file))(t)
				must.Get(s.Import(t.Context()))(t)
			}
			wantTexts(t, c, readBackup(t, vector).live()...)
			c.take(vector) // and the folder with the same rows
			must.Equal(t, "import of the same rows from a folder", c.imports().Observations, 0)
			wantTexts(t, c, readBackup(t, vector).live()...)
		})
	}
}

func TestOwnRowsThatComeBackAreKnown(t *testing.T) {
	t.Parallel()
	a := engramClone(t)
	a.save("one of ours")
	id := a.write(amber.WriteRequest{Content: "a topic of ours", Topic: "deploy"})
	a.export(gitsync.ExportOptions{})
	// Engram 1.7.0 imports the rows, numbers them anew and drops their names.
	var rows map[string][]map[string]any
	raw := must.Get(os.ReadFile(filepath.Join(a.folder, "chunks", a.chunkIDs()[0]+".jsonl.gz")))(t)
	must.Do(t, json.Unmarshal([]byte(unzip(t, raw)), &rows))
	for i, o := range rows["observations"] {
		o["id"] = 100 + i
		delete(o, "sync_id")
	}
	again, err := json.Marshal(map[string]any{
		"version": "0.1.0", "exported_at": "2026-11-15 02:40:45",
		"sessions": rows["sessions"], "observations": rows["observations"], "prompts": nil,
	})
	must.Do(t, err)
	file := filepath.Join(t.TempDir(), "export.json")
	must.Do(t, os.WriteFile(file, again, 0o644))
	s := must.Get(gitsync.Options{Format: wire.SyncEngram}.Open(a.Store, file))(t)
	if r, err := s.Import(t.Context()); err != nil || r.Observations != 0 || r.Conflicts != 0 {
		t.Errorf("import: %+v, %v", r, err)
	}
	wantTexts(t, a, "one of ours", "a topic of ours")
	must.Equal(t, "versions", len(must.Get(amber.All(t.Context(), a.History, id))(t)), 1)
}
