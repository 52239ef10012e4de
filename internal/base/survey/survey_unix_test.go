//go:build unix

package survey_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/survey"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func put(t *testing.T, path, content string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(t, os.WriteFile(path, []byte(content), 0o600))
}

func look(t *testing.T, root string, o survey.Options) survey.Survey {
	t.Helper()
	s := must.Get(survey.Walk(fsx.OS(), root, o))(t)
	return s
}

// age sets the time of a file back, so that it counts as settled.
func age(t *testing.T, path string, by time.Duration) {
	t.Helper()
	old := time.Now().Add(-by)
	must.Do(t, os.Chtimes(path, old, old))
}

func paths(s survey.Survey) []string {
	var names []string
	for _, e := range s.Entries {
		names = append(names, fmt.Sprintf("%s %d %d", e.Path, e.Mode, e.Size))
	}
	return names
}

func reasons(s survey.Survey) []string {
	var all []string
	for _, k := range s.Skipped {
		all = append(all, k.Part+" "+k.Path+" "+k.Reason)
	}
	return all
}

func TestWalkListsFilesFoldersAndModes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, filepath.Join(root, "b", "c.md"), "text")
	put(t, filepath.Join(root, "b-a"), "")
	put(t, filepath.Join(root, ".git", "HEAD"), "x")
	put(t, filepath.Join(root, "run.sh"), "#!")
	must.Do(t, os.Chmod(filepath.Join(root, "run.sh"), 0o700))
	must.Do(t, os.Mkdir(filepath.Join(root, "empty"), 0o700))
	s := look(t, root, survey.Options{Skip: func(rel string, dir bool) bool { return dir && rel == ".git" }})
	want := []string{"b 3 0", "b-a 1 0", "b/c.md 1 4", "empty 3 0", "run.sh 2 2"}
	must.Equal(t, "", want, paths(s))
	must.Equal(t, "skipped", s.Skipped, nil)
	if e, found := s.Find("b/c.md"); !found || e.Key.Inode == 0 || e.ModTime.IsZero() {
		t.Errorf("found %+v, %v", e, found)
	}
}

func TestB19_NothingIsSkippedInSilence(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	away := t.TempDir()
	put(t, filepath.Join(away, "secret"), "secret")
	put(t, filepath.Join(root, "large"), strings.Repeat("x", 101))
	put(t, filepath.Join(root, "README"), "")
	put(t, filepath.Join(root, "readme"), "")
	put(t, filepath.Join(root, "\u212A"), "") // the Kelvin sign folds to k
	put(t, filepath.Join(root, "k"), "")
	for _, bad := range []string{"a\xffb", "a\nb", "a:b", "nul.txt", "COM1", "dot.", "space "} {
		put(t, filepath.Join(root, bad), "")
	}
	put(t, filepath.Join(root, "a", "b", "c", "deep"), "")
	for link, to := range map[string]string{"link": filepath.Join(away, "secret"), "folder": away} {
		must.Do(t, os.Symlink(to, filepath.Join(root, link)))
	}
	must.Do(t, syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600))
	s := look(t, root, survey.Options{Part: "state", MaxFileBytes: 100, MaxDepth: 2})
	must.Equal(t, "", []string{"README 1 0", "a 3 0", "a/b 3 0", "k 1 0"}, paths(s))
	want := []string{
		"state COM1 bad_name", "state a/b/c too_large", "state a\nb bad_name", "state a:b bad_name", "state a\uFFFDb bad_name",
		"state dot. bad_name", "state fifo not_regular", "state folder not_regular", "state large too_large",
		"state link not_regular", "state nul.txt bad_name", "state readme bad_name", "state space  bad_name",
		"state \u212A bad_name",
	}
	must.Equal(t, "", want, reasons(s))
}

// denied is a file system in which one folder may not be read, by root either.
type denied struct {
	fsx.FS
	dir string
}

func (d denied) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == d.dir {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return d.FS.ReadDir(name)
}

func TestUnreadableFolderIsSkipped(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, filepath.Join(root, "a", "x"), "")
	s := must.Get(survey.Walk(denied{fsx.OS(), filepath.Join(root, "a")}, root, survey.Options{}))(t)
	must.Equal(t, "", []string{" a unreadable"}, reasons(s))
}

func TestBoundsOfASurvey(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for i := range 20 {
		put(t, filepath.Join(root, fmt.Sprintf("%02d", i)), "")
	}
	s := look(t, root, survey.Options{MaxFiles: 10})
	if len(s.Entries) != 10 || len(s.Skipped) != 1 || s.Skipped[0].Reason != wire.SkipTooLarge || s.Skipped[0].Path != "10" {
		t.Errorf("%d entries, skipped %+v", len(s.Entries), s.Skipped)
	}
	many := t.TempDir()
	for i := range survey.MaxSkipped + 5 {
		put(t, filepath.Join(many, fmt.Sprintf("%d:", i)), "")
	}
	s = look(t, many, survey.Options{})
	if len(s.Skipped) != survey.MaxSkipped || s.Unlisted != 5 {
		t.Errorf("%d listed, %d not", len(s.Skipped), s.Unlisted)
	}
}

func TestTheRootItself(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, filepath.Join(root, "a"), "text")
	link := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink(root, link))
	for path, want := range map[string]error{
		filepath.Join(root, "nowhere"): fs.ErrNotExist,
		filepath.Join(root, "a"):       syscall.ENOTDIR,
		link:                           syscall.ENOTDIR,
	} {
		must.Is(t, path, must.Err(survey.Walk(fsx.OS(), path, survey.Options{})), want)
	}
	s := look(t, link, survey.Options{FollowRoot: true})
	if len(s.Entries) != 1 || s.Root == link {
		t.Fatalf("surveyed %+v", s)
	}
	must.Equal(t, "text", must.Get(read(s.Root, s.Entries[0]))(t), "text")
}

func TestSameIsOnlyWhatCertainlyDidNotChange(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := filepath.Join(root, "a")
	put(t, file, "text")
	put(t, filepath.Join(root, "d", "x"), "text")
	first := look(t, root, survey.Options{})
	e, _ := first.Find("a")
	later := time.Now().Add(time.Hour) // the survey was made when the file was old
	if !first.Same(e, later) {
		t.Error("an old file that did not change is not the same")
	}
	if first.Same(e, time.Now()) {
		t.Error("a file that was written a moment before the survey is vouched for")
	}
	if d, _ := first.Find("d"); !first.Same(d, time.Now()) {
		t.Error("a folder is not the same")
	}
	changes := map[string]func(){
		"other size":      func() { put(t, file, "longer text") },
		"same size":       func() { put(t, file, "texT"); age(t, file, time.Hour) },
		"other inode":     func() { put(t, file+".new", "text"); rename(t, file+".new", file) },
		"executable":      func() { os.Chmod(file, 0o700) },
		"a folder":        func() { os.Remove(file); os.Mkdir(file, 0o700) },
		"not there":       func() { os.Remove(file) },
		"times set back":  func() { put(t, file, "TEXT"); os.Chtimes(file, e.ModTime, e.ModTime) },
		"a symbolic link": func() { os.Remove(file); os.Symlink("/etc/passwd", file) },
	}
	for name, change := range changes {
		os.RemoveAll(file)
		put(t, file, "text")
		before := look(t, root, survey.Options{})
		e, _ = before.Find("a")
		change()
		if after := look(t, root, survey.Options{}); after.Same(e, later) {
			t.Errorf("%s: it counts as the same", name)
		}
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	must.Do(t, os.Rename(from, to))
}

func read(root string, e survey.Entry) (string, error) {
	var b strings.Builder
	err := survey.Read(fsx.OS(), root, e, &b)
	return b.String(), err
}

// meddler is a writer that does something as soon as it is written to.
type meddler struct {
	io.Writer
	meddle func()
}

func (m meddler) Write(p []byte) (int, error) {
	m.meddle()
	return m.Writer.Write(p)
}

func TestB13_AFileThatChangesWhileItIsReadIsTorn(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(file string) error{
		"grows":     func(file string) error { return os.WriteFile(file, []byte("text and more"), 0o600) },
		"shrinks":   func(file string) error { return os.Truncate(file, 1) },
		"rewritten": func(file string) error { return os.WriteFile(file, []byte("TEXT"), 0o600) },
		"exchanged": func(file string) error {
			return errors.Join(os.WriteFile(file+"2", []byte("text"), 0o600), os.Rename(file+"2", file))
		},
		"linked": func(file string) error {
			return errors.Join(os.Remove(file), os.Symlink("/etc/passwd", file))
		},
		"gone":   os.Remove,
		"folder": func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) },
		"parent exchanged": func(file string) error {
			dir := filepath.Dir(file)
			return errors.Join(os.Rename(dir, dir+"2"), os.MkdirAll(dir+"3", 0o700),
				os.WriteFile(dir+"3/a", []byte("text"), 0o600), os.Symlink(dir+"3", dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			file := filepath.Join(root, "dir", "a")
			put(t, file, "text")
			age(t, file, time.Hour)
			e := must.Get(survey.Stat(fsx.OS(), root, "dir/a"))(t)
			must.Equal(t, "text", must.Get(read(root, e))(t), "text")
			// While it is read: only what touches the open file can be seen, and it is.
			meddled := false
			out := meddler{io.Discard, func() {
				if !meddled {
					meddled = true
					must.NoError(t, change(file))
				}
			}}
			err := survey.Read(fsx.OS(), root, e, out)
			touched := name == "grows" || name == "shrinks" || name == "rewritten"
			if touched && !errors.Is(err, survey.ErrTorn) {
				t.Errorf("while: %v", err)
			}
			// Before it is read.
			must.Is(t, "before", survey.Read(fsx.OS(), root, e, io.Discard), survey.ErrTorn)
		})
	}
}

func TestReadRefusesFolders(t *testing.T) {
	t.Parallel()
	must.Is(t, "folder", survey.Read(fsx.OS(), t.TempDir(), survey.Entry{Path: ".", Mode: survey.Dir}, io.Discard), fsx.ErrNotRegular)
}

// An FS that exchanges a folder for a link after it was listed.
type swapping struct {
	fsx.FS
	dir, away string
}

func (s swapping) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == s.dir {
		if err := errors.Join(os.Rename(name, name+"-old"), os.Symlink(s.away, name)); err != nil {
			return nil, err
		}
	}
	return s.FS.ReadDir(name)
}

func TestNothingOutsideTheRootIsSurveyed(t *testing.T) {
	t.Parallel()
	root, away := t.TempDir(), t.TempDir()
	put(t, filepath.Join(root, "dir", "a"), "text")
	put(t, filepath.Join(away, "secret"), "text")
	s := must.Get(survey.Walk(swapping{fsx.OS(), filepath.Join(root, "dir"), away}, root, survey.Options{}))(t)
	must.Equal(t, "", []string{"dir 3 0"}, paths(s))
	must.Equal(t, "", []string{" dir torn"}, reasons(s))
}

func BenchmarkWalk2000(b *testing.B) {
	root := b.TempDir()
	for i := range 2000 {
		dir := filepath.Join(root, fmt.Sprint(i%20))
		must.Do(b, errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, fmt.Sprint(i)+".md"), nil, 0o600)))
	}
	for b.Loop() {
		must.Do(b, must.Err(survey.Walk(fsx.OS(), root, survey.Options{})))
	}
}
