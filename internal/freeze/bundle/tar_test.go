package bundle

import (
	"archive/tar"
	"bytes"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestHeadersSayToOthersWhatTheySayHere reads headers with another program's reader.
func TestHeadersSayToOthersWhatTheySayHere(t *testing.T) {
	t.Parallel()
	for _, h := range []header{
		{"notes/a.md", 0o600, 0, 1},
		{"notes/" + strings.Repeat("x", 94), 0o700, 5, 1_772_600_767},
		{"notes/" + strings.Repeat("x", 95), 0o600, 5, 1_772_600_767},
		{"notes/größe/日本.md", 0o600, 7, 2},
		{"db/memory.db", 0o600, maxOctal, 3},
		{"db/memory.db", 0o600, maxOctal + 1, 3},
		{"notes/" + strings.Repeat("ü/", 600) + "x", 0o600, 60 << 30, 3},
		{"notes/empty/", 0o700, 0, 4},
	} {
		raw := posixHeader(h)
		got, end, err := readPOSIX(bytes.NewReader(raw))
		must.Hold(t, err == nil && !end && got == h, "%.30q: read as %+v, %v", h.path, got, err)
		other, err := tar.NewReader(bytes.NewReader(raw)).Next()
		if err != nil {
			t.Errorf("%.30q: %v", h.path, err)
			continue
		}
		is := header{other.Name, other.Mode, other.Size, other.ModTime.Unix()}
		must.Hold(t, is == h && other.FileInfo().IsDir() == h.isFolder(), "%.30q: others read %+v", h.path, is)
	}
	for _, h := range []header{{"memory_files/a", 0o600, 3, 0}, {"memory_files/" + strings.Repeat("x", 300), 0o600, 3, 0}} {
		other, err := tar.NewReader(bytes.NewReader(gnuHeader(h))).Next()
		if err != nil || other.Name != h.path || other.Size != 3 || other.Typeflag != tar.TypeReg {
			t.Errorf("%.30q: others read %+v, %v", h.path, other, err)
		}
		if got, end, err := readGNU(bytes.NewReader(gnuHeader(h))); err != nil || end || got.path != h.path || got.size != 3 {
			t.Errorf("%.30q: read as %+v, %v", h.path, got, err)
		}
	}
}
