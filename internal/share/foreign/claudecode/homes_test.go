package claudecode_test

import (
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign/claudecode"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

// A setting moves the folder of memories away from the home of the program.
func TestAMemoryFolderThatASettingMovesIsFound(t *testing.T) {
	t.Parallel()
	home := foreigntest.Files(t, map[string]string{".claude/settings.json": `{"autoMemoryDirectory":"~/notes/claude"}`})
	none := func(string) string { return "" }
	must.Equal(t, "homes", claudecode.Format.Homes(none, home), []string{filepath.Join(home, ".claude"), filepath.Join(home, "notes", "claude")})
	for name, text := range map[string]string{"no setting": `{}`, "not JSON": `{`, "not a path": `{"autoMemoryDirectory":["a"]}`, "not absolute": `{"autoMemoryDirectory":"a"}`} {
		home := foreigntest.Files(t, map[string]string{".claude/settings.json": text})
		must.Equal(t, name, claudecode.Format.Homes(none, home), []string{filepath.Join(home, ".claude")})
	}
}
