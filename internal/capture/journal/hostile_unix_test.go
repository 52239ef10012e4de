//go:build unix

package journal_test

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// everyCall makes every call on the session one that could be led astray.
func everyCall(t *testing.T, j *journal.Journal) map[string]error {
	t.Helper()
	errs := map[string]error{"start": j.Start(t.Context(), one), "quarantine": j.Quarantine(t.Context(), one.Key(), 1, nil, "")}
	_, errs["append"] = j.Append(t.Context(), one, entry(1))
	_, errs["read"] = j.Read(t.Context(), one.Key(), 0, func(journal.Frame) error { return nil })
	_, errs["clear"] = j.Clear(t.Context(), one.Key(), 1)
	return errs
}

// TestLinkedFoldersAreRefused puts symbolic links in the place of the spool and of a session's folder.
func TestLinkedFoldersAreRefused(t *testing.T) {
	t.Parallel()
	places := map[string]func(dir string) string{
		"spool":   func(dir string) string { return dir },
		"session": func(dir string) string { return filepath.Join(dir, string(one.Key())) },
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, elsewhere := spoolDir(t), t.TempDir()
			must.Do(t, os.MkdirAll(filepath.Dir(place(dir)), 0o700))
			must.Do(t, os.Symlink(elsewhere, place(dir)))
			for call, err := range everyCall(t, on(t, nil, dir)) {
				must.Kind(t, call, err, amber.KindDamaged)
			}
			must.Equal(t, "files behind the link", len(files(t, fsx.OS(), elsewhere)), 0)
		})
	}
}

// TestStrangeFilesNamedLikeSegments puts a link, a fifo and a folder where the next segments would be.
func TestStrangeFilesNamedLikeSegments(t *testing.T) {
	t.Parallel()
	dir, j := newSpool(t, journal.Options{SegmentBytes: 100}) // one entry each
	fill(t, j, one, 2)
	victim := filepath.Join(t.TempDir(), "victim")
	must.Do(t, os.WriteFile(victim, []byte("precious"), 0o600))
	must.Do(t, os.Symlink(victim, segment(dir, 3)))
	must.Do(t, syscall.Mkfifo(segment(dir, 4), 0o600))
	must.Do(t, os.Mkdir(segment(dir, 5), 0o700))
	must.Equal(t, "last sequence", mustAppend(t, j, one, entry(3), entry(4)), 4)
	frames, d, err := readAll(j, one.Key(), 0)
	if err != nil || d != (journal.Damage{Headers: 3}) || !slices.Equal(texts(frames), numbered(1, 4)) {
		t.Errorf("%v, %+v, %v", texts(frames), d, err)
	}
	must.Get(j.Clear(t.Context(), one.Key(), 4))(t)
	must.Equal(t, "the victim", string(must.Get(os.ReadFile(victim))(t)), "precious")
}

// TestStrangeFilesInOtherPlaces puts links where the lock, the meta file and the losses belong.
func TestStrangeFilesInOtherPlaces(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"lock", "meta", "quarantine", "../losses"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := spoolDir(t)
			fill(t, on(t, nil, dir), one, 2)
			path := filepath.Join(dir, string(one.Key()), name)
			victim := filepath.Join(t.TempDir(), "victim")
			must.Do(t, os.WriteFile(victim, []byte("precious"), 0o600))
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			must.Do(t, os.Symlink(victim, path))
			j := on(t, nil, dir)
			var err error
			switch name {
			case "quarantine":
				err = j.Quarantine(t.Context(), one.Key(), 1, nil, "")
			case "../losses":
				err = j.CountLoss(syscall.EIO)
			default:
				_, err = j.Append(t.Context(), one, entry(3))
			}
			must.Kind(t, name, err, amber.KindDamaged)
			must.Equal(t, "the victim", string(must.Get(os.ReadFile(victim))(t)), "precious")
		})
	}
}

// TestModes checks that no other user can read a spool.
func TestModes(t *testing.T) {
	t.Parallel()
	dir, j := newSpool(t, journal.Options{SegmentBytes: 100})
	fill(t, j, one, 3)
	must.Do(t, j.Quarantine(t.Context(), one.Key(), 1, []byte("x"), "no use"))
	must.Do(t, j.CountLoss(syscall.EIO))
	seen := 0
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700 | os.ModeDir
		}
		must.Equal(t, "mode of "+path, info.Mode(), want)
		seen++
		return err
	})
	if err != nil || seen != 11 {
		t.Errorf("looked at %d files, %v", seen, err)
	}
}

// TestReadOnlySpool may not write anything.
func TestReadOnlySpool(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{syscall.EACCES, syscall.EROFS, syscall.EPERM} {
		dir := spoolDir(t)
		fill(t, on(t, nil, dir), one, 2)
		var rules []errfs.Rule
		for _, op := range []errfs.Op{errfs.OpCreate, errfs.OpWrite, errfs.OpTruncate, errfs.OpMkdir, errfs.OpLink, errfs.OpRename, errfs.OpRemove} {
			rules = append(rules, errfs.Rule{Op: op, Err: cause})
		}
		j := on(t, errfs.Wrap(fsx.OS(), rules...), dir)
		_, err := j.Append(t.Context(), one, entry(3))
		must.Kind(t, "append", err, amber.KindRefused)
		if amber.HintOf(err) == "" {
			t.Error("refused without a hint")
		}
		_, err = j.Append(t.Context(), journal.Session{Host: "test", ID: "new"}, entry(1))
		must.Kind(t, "append to a new session", err, amber.KindRefused)
		must.Fail(j.Clear(t.Context(), one.Key(), 2))(t, "clear", amber.KindRefused)
		must.Kind(t, "count a loss", j.CountLoss(cause), amber.KindRefused)
		st, err := j.Status(t.Context(), one.Key(), 0)
		if err != nil || st.Entries != 2 || st.LastError != "" {
			t.Errorf("status: %+v, %v", st, err)
		}
		if r, err := j.Verify(t.Context()); err != nil || len(r) != 1 || r[0].Frames != 2 {
			t.Errorf("verify: %+v, %v", r, err)
		}
	}
}
