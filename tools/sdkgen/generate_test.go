package sdkgen

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

var update = flag.Bool("update", false, "write what is made into the packages")

// root is the top of the repository.
const root = "../.."

// The packages hold what is made of the document of today. Run with -update after a change of the API.
func TestThePackagesAreMadeOfTheDocument(t *testing.T) {
	t.Parallel()
	files := must.Get(Generate(must.Get(os.ReadFile(filepath.Join(root, "internal/serve/httpapi/testdata/openapi.json")))(t)))(t)
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if *update {
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		}
		must.Equal(t, name, string(must.Get(os.ReadFile(path))(t)), text)
	}
}
