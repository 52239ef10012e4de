package linediff_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/base/linediff"
	"github.com/amber-memory/amber/internal/test/must"
)

// signs writes edits as one line each.
func signs(edits []linediff.Edit) string {
	var b strings.Builder
	for _, e := range edits {
		b.WriteByte(byte(e.Op))
		b.WriteString(e.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

func TestLinesNameWhatChanged(t *testing.T) {
	a, b := "one\ntwo\nthree\nfour\n", "one\n2\nthree\nfour\nfive\n"
	must.Equal(t, "edits", signs(linediff.Lines(a, b)), " one\n-two\n+2\n three\n four\n+five\n")
	must.Equal(t, "edits", linediff.Differ(linediff.Lines(a, a)), false)
	must.Equal(t, "edits", signs(linediff.Lines("", "x")), "+x\n")
	must.Equal(t, "edits", signs(linediff.Lines("x\n", "x")), " x\n+"+linediff.NoBreak+"\n")
	must.Equal(t, "edits", signs(linediff.Lines("x", "")), "-x\n")
}

func TestWordsNameWhatChanged(t *testing.T) {
	must.Equal(t, "edits", signs(linediff.Words("we use Redis 7.", "we use Valkey 8.")), " we\n  \n use\n  \n-Redis\n+Valkey\n  \n-7\n+8\n .\n")
}

// Both texts can be read off the edits, the numbers are theirs, and no shorter list exists.
func TestEditsHoldBothTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range 1 + random.IntN(30) {
			b.WriteString([]string{"a\n", "b\n", "c\n", "\n"}[random.IntN(4)])
		}
		return b.String()
	}
	for range 5000 {
		a, b := text(), text()
		var old, new []string
		changed := 0
		for _, e := range linediff.Lines(a, b) {
			if e.Op != linediff.Added {
				if old = append(old, e.Text); e.A != len(old) {
					t.Fatalf("line %d of a has number %d", len(old), e.A)
				}
			}
			if e.Op != linediff.Removed {
				if new = append(new, e.Text); e.B != len(new) {
					t.Fatalf("line %d of b has number %d", len(new), e.B)
				}
			}
			if e.Op != linediff.Same {
				changed++
			}
		}
		if got := strings.Join(old, "\n") + "\n"; got != a {
			t.Fatalf("a is %q, want %q", got, a)
		}
		if got := strings.Join(new, "\n") + "\n"; got != b {
			t.Fatalf("b is %q, want %q", got, b)
		}
		if want := fewest(strings.Split(strings.TrimSuffix(a, "\n"), "\n"), strings.Split(strings.TrimSuffix(b, "\n"), "\n")); changed != want {
			t.Fatalf("%d edits of %q and %q, want %d", changed, a, b, want)
		}
	}
}

// fewest is the number of edits by the table that everybody knows.
func fewest(a, b []string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			keep := diagonal
			diagonal = row[j+1]
			row[j+1] = min(row[j], row[j+1]) + 1
			if a[i] == b[j] {
				row[j+1] = min(row[j+1], keep)
			}
		}
	}
	return row[len(b)]
}

func TestTextsThatDifferTooMuchAreReplaced(t *testing.T) {
	a, b := strings.Repeat("x\n", 3000), strings.Repeat("y\n", 3000)
	edits := linediff.Lines("same\n"+a, "same\n"+b)
	must.Equal(t, "edits", len(edits), 6001)
	must.Equal(t, "edits", edits[0].Op, linediff.Same)
}
