package home_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// TestAtMakesNothing finds the spool of an agent that is not there, in a home that is not there.
func TestAtMakesNothing(t *testing.T) {
	t.Parallel()
	dir := homeDir(t)
	h := must.Get(home.At(dir, options(nil)))(t)
	a := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	must.Equal(t, "spool", a.SpoolDir(), filepath.Join(agentDir(dir), "spool"))
	must.Is(t, "home", must.Err(os.Lstat(dir)), fs.ErrNotExist)
}

// TestAtFindsTheHomeThatOpenFinds looks through a link, and refuses what Open refuses.
func TestAtFindsTheHomeThatOpenFinds(t *testing.T) {
	t.Parallel()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	real, link, file := filepath.Join(dir, "disk"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	must.Do(t, errors.Join(os.Mkdir(real, 0o700), os.Symlink(real, link), os.WriteFile(file, nil, 0o600)))
	for _, path := range []string{real, link} {
		h, err := home.At(path, options(nil))
		must.Hold(t, err == nil && h.Dir() == real, "%s: got %v, %v, want %s", path, h, err, real)
	}
	for _, path := range []string{"", "relative", file, filepath.Join(file, "below")} {
		h, err := home.At(path, options(nil))
		must.Kind(t, path, err, amber.KindInvalid)
		must.Hold(t, h == nil, "%s: got a home beside the error", path)
	}
}
