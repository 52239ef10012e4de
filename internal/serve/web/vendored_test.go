package web_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// Files of others are those that were read before they were taken, byte for byte, and have their licence beside them.
func TestVendoredFilesAreAsTheyWereTaken(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"static/htmx.min.js":      "e484d9171a9db30a39c8f16e3d709d4137f3211c659f8e6125816635033d593f",
		"static/hx-csp.min.js":    "279f659b9ec8658e3d47230cc545b0bb4e3efa4c2d780454d54db104a5257b7d",
		"static/htmx.LICENSE":     "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38",
		"testdata/axe/axe.min.js": "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878",
		"testdata/axe/LICENSE":    "af175b9d96ee93c21a036152e1b905b0b95304d4ae8c2c921c7609100ba8df7e",
	} {
		sum := sha256.Sum256(must.Get(os.ReadFile(file))(t))
		must.Equal(t, file, hex.EncodeToString(sum[:]), want)
	}
}
