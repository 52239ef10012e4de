//go:build unix

package gitobj_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/test/must"
)

// history makes a repository of notes in folders, with one commit that brings all and then one for each change.
func history(tb testing.TB, dir string, notes, folders, commits int) {
	tb.Helper()
	var b strings.Builder
	name := func(i int) string { return fmt.Sprintf("folder-%d/note-%04d.md", i%folders, i) }
	text := func(i, v int) string { return strings.Repeat(fmt.Sprintf("line %d of note %d\n", v, i), 20) }
	for c := range commits {
		fmt.Fprintf(&b, "commit refs/heads/main\ncommitter A <a@localhost> %d +0000\ndata 1\nx\n", 1_700_000_000+c)
		for i := range notes {
			if c == 0 || i == c%notes {
				t := text(i, c)
				fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", name(i), len(t), t)
			}
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "--initial-branch=main", "--template=", dir},
		{"-C", dir, "-c", "fastimport.unpackLimit=100000", "fast-import", "--quiet"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}
		cmd.Stdin = strings.NewReader(b.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			tb.Fatalf("%v\n%s", err, out)
		}
	}
}

// The repository of the measured agent: 2 000 notes, 500 commits.
func BenchmarkSnapshot(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "notes")
	history(b, dir, 2000, 20, 500)
	refs, _, err := gitobj.ReadRefs(fsx.OS(), dir)
	must.Do(b, err)
	type object struct {
		oid string
		raw []byte
	}
	var all []object
	collect := func(oid string, raw []byte) error {
		all = append(all, object{oid, raw})
		return nil
	}
	b.Run("ReadRefs", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := gitobj.ReadRefs(fsx.OS(), dir); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Objects", func(b *testing.B) {
		for b.Loop() {
			all = nil
			must.Do(b, gitobj.Objects(b.Context(), gitobj.Options{Dir: dir}, refs, gitobj.Refs{}, collect))
		}
		size := 0
		for _, o := range all {
			size += len(o.raw)
		}
		b.ReportMetric(float64(len(all)), "objects")
		b.ReportMetric(float64(size), "bytes")
	})
	b.Run("Build", func(b *testing.B) {
		for b.Loop() {
			err := gitobj.Connected(b.Context(), gitobj.Options{}, b.TempDir(), refs, func(yield func(string, []byte) error) error {
				for _, o := range all {
					if err := yield(o.oid, o.raw); err != nil {
						return err
					}
				}
				return nil
			})
			must.Do(b, err)
		}
	})
}
