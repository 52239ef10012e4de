package hook

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestLinesComeFromTheLastOneOn compares with splitting the whole text, for
// lines shorter and longer than what is read at once.
func TestLinesComeFromTheLastOneOn(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 20 {
		var lines []string
		for n := range random.IntN(40) {
			size := []int{1, 80, readSize - 3, readSize, readSize + 1, 3 * readSize}[random.IntN(2+round%5)]
			lines = append(lines, fmt.Sprint(n)+strings.Repeat("x", size))
		}
		text := strings.Join(lines, "\n")
		if round%2 == 0 {
			text += "\n\n"
		}
		text = text[max(0, len(text)-maxTranscript):]
		var got []string
		linesBackward(strings.NewReader(text), int64(len(text)), func(line string) bool {
			got = append(got, line)
			return true
		})
		slices.Reverse(got)
		if want := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }); !slices.Equal(got, want) {
			t.Fatalf("round %d: %d lines, want %d", round, len(got), len(want))
		}
	}
}

// TestLinesAreBounded: linesBackward reads only the end of a large file, passes over
// lines that are too long, and does not go through a million lines.
func TestLinesAreBounded(t *testing.T) {
	t.Parallel()
	count := func(text string) (n int, first, last string) {
		linesBackward(strings.NewReader(text), int64(len(text)), func(line string) bool {
			if n++; n == 1 {
				first = line
			}
			last = line
			return true
		})
		return n, first, last
	}
	long := strings.Repeat("x", maxLine+readSize)
	if n, first, last := count("a\n" + long + "\nb\n"); n != 2 || first != "b" || last != "a" {
		t.Errorf("%d lines, %.20s to %.20s", n, first, last)
	}
	if n, _, _ := count(strings.Repeat("x\n", maxLines+5)); n != maxLines {
		t.Errorf("%d lines", n)
	}
	if n, _, last := count("first\n" + strings.Repeat(strings.Repeat("y", 999)+"\n", maxTranscript/1000+10)); n > maxTranscript/1000 || last == "first" {
		t.Errorf("%d lines, the last one is %.20s", n, last)
	}
	if n, _, _ := count(""); n != 0 {
		t.Errorf("%d lines of nothing", n)
	}
	linesBackward(strings.NewReader("a\nb"), 1<<30, func(string) bool { t.Error("a file that became shorter was read"); return true })
}
