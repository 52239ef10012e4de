package analyze_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/test/must"
)

var update = flag.Bool("update", false, "rewrite tables.txt from FTS5")

// TestTables reads the class and the folding of every code point from FTS5
// and compares the outcome with tables.txt.
func TestTables(t *testing.T) {
	if testing.Short() {
		t.Skip("asks FTS5 about every code point, which takes seconds")
	}
	t.Parallel()
	got := renderTables(t)
	if *update {
		must.Do(t, os.WriteFile("tables.txt", got, 0o644))
		return
	}
	want := must.Get(os.ReadFile("tables.txt"))(t)
	if !bytes.Equal(got, want) {
		t.Error("FTS5 of this SQLite differs from tables.txt: run go test -run TestTables -update and review the change")
	}
}

func renderTables(t *testing.T) []byte {
	var seps, marks []rune
	var folds []fold
	words, trigrams := openFTS5(t, plainTokenizer), openFTS5(t, trigramTokenizer)
	const block = 1 << 13
	for first := rune(0); first <= utf8.MaxRune; first += block {
		chars := validRunes(first, first+block)
		s, m := classify(t, words, chars)
		seps, marks = append(seps, s...), append(marks, m...)
		folds = append(folds, foldAll(t, trigrams, chars)...)
	}
	var b bytes.Buffer
	b.WriteString("# What FTS5 makes of the characters beyond ASCII. Made by go test -run TestTables -update; do not edit.\n")
	b.WriteString("# separator FIRST LAST: ends a token. mark FIRST LAST: vanishes inside a token.\n")
	b.WriteString("# fold FIRST LAST STEP TO INC: FIRST, FIRST+STEP, ... LAST fold to TO, TO+INC, ...; to 0 is dropped. All numbers are hexadecimal.\n")
	writeSpans(&b, "separator", seps)
	writeSpans(&b, "mark", marks)
	writeFolds(&b, folds)
	return b.Bytes()
}

// validRunes returns the code points from first up to end beyond ASCII, which
// the code knows itself.
func validRunes(first, end rune) []rune {
	var chars []rune
	for r := max(first, utf8.RuneSelf); r < min(end, utf8.MaxRune+1); r++ {
		if utf8.ValidRune(r) {
			chars = append(chars, r)
		}
	}
	return chars
}

// classify puts each character between two words: a separator keeps them
// apart, a mark leaves nothing between them, any other letter does.
func classify(t *testing.T, f *fts5, chars []rune) (seps, marks []rune) {
	var text strings.Builder
	for _, r := range chars {
		text.WriteString("zz" + string(r) + "qq ")
	}
	terms := f.terms(t, text.String())
	for _, r := range chars {
		switch {
		case len(terms) >= 2 && terms[0] == "zz" && terms[1] == "qq":
			seps = append(seps, r)
			terms = terms[1:]
		case terms[0] == "zzqq":
			marks = append(marks, r)
		case !strings.HasPrefix(terms[0], "zz") || !strings.HasSuffix(terms[0], "qq"):
			t.Fatalf("%U: term %q", r, terms[0])
		}
		terms = terms[1:]
	}
	if len(terms) != 0 {
		t.Fatalf("%U: %d terms left over", chars[0], len(terms))
	}
	return seps, marks
}

type fold struct{ from, to rune }

// foldAll returns the characters that do not fold to themselves. The trigrams
// of a text, read by their last characters, are the folded text.
func foldAll(t *testing.T, f *fts5, chars []rune) []fold {
	var text strings.Builder
	text.WriteString("||")
	for _, r := range chars {
		text.WriteString("|" + string(r))
	}
	var folded strings.Builder
	for _, term := range f.terms(t, text.String()) {
		last, _ := utf8.DecodeLastRuneInString(term)
		folded.WriteRune(last)
	}
	parts := strings.Split(folded.String(), "|")[1:]
	if len(parts) != len(chars) {
		t.Fatalf("%U: %d characters became %d", chars[0], len(chars), len(parts))
	}
	var folds []fold
	for i, r := range chars {
		to := rune(0)
		if parts[i] != "" {
			to, _ = utf8.DecodeRuneInString(parts[i])
		}
		if to != r {
			folds = append(folds, fold{r, to})
		}
	}
	return folds
}

func writeSpans(b *bytes.Buffer, what string, chars []rune) {
	for i := 0; i < len(chars); {
		j := i
		for j+1 < len(chars) && chars[j+1] == chars[j]+1 {
			j++
		}
		fmt.Fprintf(b, "%s %x %x\n", what, chars[i], chars[j])
		i = j + 1
	}
}

// writeFolds joins neighbours that fold to one letter, or that are shifted by
// the same distance, one by one or every other one.
func writeFolds(b *bytes.Buffer, folds []fold) {
	for i := 0; i < len(folds); {
		step, inc := rune(1), rune(0)
		j := i
		if i+1 < len(folds) {
			step, inc = folds[i+1].from-folds[i].from, folds[i+1].to-folds[i].to
		}
		if step <= 2 && (inc == 0 || inc == step) {
			for j+1 < len(folds) && folds[j+1].from-folds[j].from == step && folds[j+1].to-folds[j].to == inc {
				j++
			}
		} else {
			step, inc = 1, 0
		}
		fmt.Fprintf(b, "fold %x %x %x %x %x\n", folds[i].from, folds[j].from, step, folds[i].to, inc)
		i = j + 1
	}
}
