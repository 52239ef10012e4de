package proc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestCrowdedMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		load, online string
		want         bool
	}{
		{"7.33 4.49 3.23 10/250 4711", "0-1", true},
		{"7.33 4.49 3.23 5/250 4711", "0-1", true},
		{"7.33 4.49 3.23 4/250 4711", "0-1\n", false},
		{"7.33 4.49 3.23 10/250 4711", "0-63", false},
		{"7.33 4.49 3.23 11/250 4711", "0,2-3,7-8", true},
		{"7.33 4.49 3.23 10/250 4711", "0,2-3,7-8", false},
		{"7.33 4.49", "0-1", false},
		{"a b c d/e", "0-1", false},
		{"7.33 4.49 3.23 10/250 4711", "3-1", false},
		{"7.33 4.49 3.23 10/250 4711", "", false},
		{"7.33 4.49 3.23 10/250 4711", "0-999999999999", false},
	} {
		root := t.TempDir()
		for name, text := range map[string]string{"proc/loadavg": c.load, "sys/devices/system/cpu/online": c.online} {
			path := filepath.Join(root, name)
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		}
		must.Equal(t, c.load+" on "+c.online, crowded(root), c.want)
	}
	must.Equal(t, "a system without the files", crowded(t.TempDir()), false)
}
