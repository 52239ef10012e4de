package formats

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
)

// Engram is the folder, the backup and the database of Engram. Package gitsync reads the first two, since they also leave through
// it; of the database Engram makes a backup.
var Engram = foreign.Format{Name: "engram", Title: "Engram", Detect: detectEngram, Homes: engramHomes, Next: nextEngram}

const (
	engramDatabase = "engram.db"
	engramManifest = "manifest.json"
	engramChunks   = "chunks"
)

func engramHomes(env func(string) string, home string) []string {
	if dir := env("ENGRAM_DATA_DIR"); dir != "" {
		return []string{dir}
	}
	return []string{filepath.Join(home, ".engram")}
}

func detectEngram(t *foreign.Tree) foreign.Match {
	if f, ok := t.Single(); ok {
		return foreign.SureIf(isEngramBackup(f) || holds(t, f, isEngramDatabase))
	}
	if _, ok := EngramBackup(t); ok {
		return foreign.Sure
	}
	switch dir, ok := EngramFolder(t); {
	case ok && dir == ".":
		return foreign.Sure
	case ok:
		return foreign.Partly // the other files of a work tree may be of another program
	}
	return foreign.SureIf(engramDatabaseOf(t))
}

// EngramFolder returns where in a tree the manifest and the chunks of Engram lie: "." or ".engram".
func EngramFolder(t *foreign.Tree) (dir string, ok bool) {
	for _, dir := range []string{".", ".engram"} {
		if f, ok := t.File(path.Join(dir, engramManifest)); ok && isEngramManifest(f) {
			return dir, true
		}
		if slices.ContainsFunc(t.Under(path.Join(dir, engramChunks)), isEngramChunk) {
			return dir, true
		}
	}
	return "", false
}

// EngramBackup returns the backup of Engram in a tree that holds nothing else.
func EngramBackup(t *foreign.Tree) (foreign.File, bool) {
	if files := t.Files(); len(files) == 1 && isEngramBackup(files[0]) {
		return files[0], true
	}
	return foreign.File{}, false
}

// UnpackEngram returns what to do before a tree of Engram can be imported that is packed: one with an archive or a packed file.
func UnpackEngram(t *foreign.Tree) (next string, packed bool) {
	if _, ok := EngramFolder(t); ok {
		return "unpack the archive, then amber import FOLDER", t.IsFile()
	}
	f, ok := EngramBackup(t)
	if _, single := t.Single(); !ok || t.IsFile() && !single || f.InZip() {
		return "unpack the archive, then amber import " + Quoted(path.Base(f.Name)), ok
	}
	real := t.Path()
	if !t.IsFile() {
		real = filepath.Join(real, filepath.FromSlash(f.Name))
	}
	for ext, command := range map[string]string{".gz": "gunzip -k ", ".zst": "unzstd "} {
		if plain, ok := strings.CutSuffix(real, ext); ok {
			return command + Quoted(real) + " && amber import " + Quoted(plain), true
		}
	}
	return "", false
}

// IsEngramDatabase reports whether a tree is the database of Engram, or has it and no chunks.
func IsEngramDatabase(t *foreign.Tree) bool {
	if f, ok := t.Single(); ok {
		return holds(t, f, isEngramDatabase)
	}
	_, folder := EngramFolder(t)
	return !folder && engramDatabaseOf(t)
}

func engramDatabaseOf(t *foreign.Tree) bool {
	f, ok := t.File(engramDatabase)
	return ok && holds(t, f, isEngramDatabase)
}

func isEngramDatabase(db *foreign.Database) bool {
	return db.Has("sessions", "observations", "user_prompts") && !db.Has("sdk_sessions") && db.HasColumns("observations", "revision_count")
}

func isEngramManifest(f foreign.File) bool {
	names := f.Names()
	_, isNumber := names["version"].(float64)
	chunks, ok := names["chunks"]
	return isNumber && ok && (chunks == nil || chunks == json.Delim('['))
}

func isEngramChunk(f foreign.File) bool {
	id, ok := strings.CutSuffix(path.Base(f.Name), engram.FileName(""))
	return ok && engram.ValidID(id)
}

func isEngramBackup(f foreign.File) bool {
	names := f.Names()
	version, isText := names["version"].(string)
	_, exported := names["exported_at"].(string)
	_, sessions := names["sessions"]
	_, observations := names["observations"]
	return isText && strings.HasPrefix(version, "0.") && exported && (sessions || observations)
}

func nextEngram(t *foreign.Tree) string {
	if next, packed := UnpackEngram(t); packed {
		return next
	}
	switch dir, ok := EngramFolder(t); {
	case ok:
		return "amber sync import --format engram --dir " + Quoted(filepath.Join(t.Path(), filepath.FromSlash(dir)))
	case IsEngramDatabase(t):
		return "engram export backup.json && amber import backup.json"
	}
	return "amber sync import --format engram --dir " + Quoted(t.Path())
}
