package config_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

// written is a configuration file whose times a test decides.
type written struct {
	t    *testing.T
	path string
	now  time.Time
}

func newWritten(t *testing.T, text string) *written {
	t.Helper()
	w := &written{t, filepath.Join(t.TempDir(), "config.yaml"), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if text != "" {
		w.write(text)
	}
	return w
}

// write replaces the file; ten seconds go by.
func (w *written) write(text string) {
	w.t.Helper()
	temp := w.path + ".new"
	must.Do(w.t, os.WriteFile(temp, []byte(text), 0o600))
	must.Do(w.t, os.Chtimes(temp, w.now, w.now))
	must.Do(w.t, os.Rename(temp, w.path))
	w.now = w.now.Add(10 * time.Second)
}

func (w *written) reloader(in config.Input) *config.Reloader {
	w.t.Helper()
	in.Path = w.path
	r := must.Get(config.NewReloader(in, func() time.Time { return w.now }))(w.t)
	return r
}

// wantKept checks what keep_last is now, and of what kind the error.
func wantKept(t *testing.T, what string, r *config.Reloader, want int, kind amber.Kind) {
	t.Helper()
	c, err := r.Current()
	if got := c.Snapshot.Retention.Rules.KeepLast; got != want || amber.KindOf(err) != kind {
		t.Errorf("%s: keep_last is %d, want %d; error %v, want kind %q", what, got, want, err, kind)
	}
	must.Equal(t, what+": keep_last as it is loaded", r.Loaded().Config.Snapshot.Retention.Rules.KeepLast, want)
}

func retention(n string) string { return "snapshot: {retention: {keep_last: " + n + "}}\n" }

func TestAChangedFileIsReadAgain(t *testing.T) {
	t.Parallel()
	w := newWritten(t, retention("5"))
	r := w.reloader(config.Input{})
	wantKept(t, "at first", r, 5, "")
	w.write(retention("7"))
	wantKept(t, "changed", r, 7, "")
	wantKept(t, "again", r, 7, "")
	w.write(retention("12"))
	wantKept(t, "changed again", r, 12, "")
}

func TestABrokenFileChangesNothingAndIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWritten(t, retention("5"))
	r := w.reloader(config.Input{})
	for _, bad := range []string{"snapshot: {", retention("-1"), ""} {
		w.write(bad)
		wantKept(t, bad, r, 5, amber.KindInvalid)
		wantKept(t, bad+" again", r, 5, "")
	}
	must.Do(t, os.Remove(w.path))
	wantKept(t, "gone", r, 5, amber.KindNotFound)
	wantKept(t, "still gone", r, 5, "")
	w.write(retention("6"))
	wantKept(t, "mended", r, 6, "")
	w.write("snapshot: {")
	wantKept(t, "broken again", r, 6, amber.KindInvalid)
}

// A file that is being written is not read.
func TestAFileIsReadWhenItWasLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWritten(t, retention("5"))
	r := w.reloader(config.Input{})
	w.write(retention("7"))
	then := w.now
	w.now = then.Add(-10*time.Second + 500*time.Millisecond)
	wantKept(t, "half a second later", r, 5, "")
	w.now = then
	wantKept(t, "ten seconds later", r, 7, "")
	w.write(retention("8"))
	w.now = then.Add(-time.Hour) // the clock was set back
	wantKept(t, "from a time to come", r, 8, "")
}

func TestEnvironmentStaysStronger(t *testing.T) {
	t.Parallel()
	w := newWritten(t, retention("5"))
	r := w.reloader(config.Input{Environ: []string{"AMBER_SNAPSHOT__RETENTION__KEEP_LAST=9"}})
	w.write(retention("7"))
	wantKept(t, "changed", r, 9, "")
}

func TestAFileThatAppearsIsRead(t *testing.T) {
	t.Parallel()
	w := newWritten(t, "")
	r := w.reloader(config.Input{})
	wantKept(t, "none", r, 30, "")
	w.write(retention("7"))
	wantKept(t, "new", r, 7, "")

	none := must.Get(config.NewReloader(config.Input{}, time.Now))(t)
	wantKept(t, "no path", none, 30, "")
}

func TestAReloaderBeginsWithAConfigurationThatIsRight(t *testing.T) {
	t.Parallel()
	w := newWritten(t, "snapshot: {")
	must.Kind(t, "a broken file", must.Err(config.NewReloader(config.Input{Path: w.path}, time.Now)), amber.KindInvalid)
	must.Kind(t, "no clock", must.Err(config.NewReloader(config.Input{}, nil)), amber.KindInvalid)
}

func TestReloaderBesideMany(t *testing.T) {
	t.Parallel()
	w := newWritten(t, retention("5"))
	r := w.reloader(config.Input{})
	w.write(retention("7"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if c, err := r.Current(); err != nil || c.Snapshot.Retention.Rules.KeepLast != 7 {
					t.Errorf("got %d, %v", c.Snapshot.Retention.Rules.KeepLast, err)
				}
			}
		})
	}
	wg.Wait()
}
