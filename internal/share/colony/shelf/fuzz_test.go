package shelf_test

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/test/must"
)

// FuzzFile reads hostile files: what is believed is true of them, and is written
// again as something that says the same.
func FuzzFile(f *testing.F) {
	whole := must.Get(os.ReadFile(filepath.Join("testdata", "file_v1.golden")))(f)
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add([]byte(`{"format":"amber-vault-file/2"}` + "\n"))
	f.Add([]byte(`{"format":"amber-vault-file/1","name":"a","size":0,"sha256":"","created_at":null,"updated_at":null,"crc32c":"00000000"}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		name, content, version, again, err := shelf.ParseFile(b)
		if err != nil {
			return
		}
		if name == "" || !utf8.ValidString(name) || !utf8.ValidString(content) || version != sha(content) {
			t.Fatalf("believed %q with %q", name, content)
		}
		name2, content2, version2, _, err := shelf.ParseFile(again)
		if err != nil || name2 != name || content2 != content || version2 != version {
			t.Fatalf("%q with %q became %q with %q: %v", name, content, name2, content2, err)
		}
	})
}
