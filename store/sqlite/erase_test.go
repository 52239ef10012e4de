package sqlite_test

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"math"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/sqlite"
)

// secretLetters spell every secret word and no other: six of them in a row in
// any file are a trace.
const secretLetters = "jkqvwxz"

// window is how many letters of a secret word make a trace.
const window = 6

// secrets makes words that occur nowhere else and remembers them.
type secrets struct {
	random  *mathrand.Rand
	windows map[string]string // six letters: the word they are from
}

func newSecrets() *secrets {
	return &secrets{mathrand.New(mathrand.NewPCG(7, 11)), map[string]string{}}
}

// word returns a new word; the stemmer cuts the ending off some.
func (s *secrets) word() string {
	core := make([]byte, 12)
	for i := range core {
		core[i] = secretLetters[s.random.IntN(len(secretLetters))]
	}
	word := string(core) + []string{"", "ing", "ation", "s"}[s.random.IntN(4)]
	for i := range len(core) - window + 1 {
		s.windows[string(core[i:i+window])] = word
	}
	return word
}

// words returns n new words as a text.
func (s *secrets) words(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = s.word()
	}
	return strings.Join(words, " ")
}

// vector returns an embedding that spells a word.
func (s *secrets) vector() []float32 {
	word := s.word()
	v := make([]float32, 3)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32([]byte(word[4*i:])))
	}
	return v
}

// traces looks through every file below dir and returns the words of which it
// finds six letters in a row, in upper or lower case, as UTF-8 or UTF-16,
// each with the files it is in.
func (s *secrets) traces(t *testing.T, dir string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, step := range []int{1, 2} {
			for w := range s.traced(b, step) {
				found[w] = append(found[w], filepath.Base(path))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// traced returns the words of which b holds six letters, step bytes apart.
func (s *secrets) traced(b []byte, step int) map[string]bool {
	found := map[string]bool{}
	var got [window]byte
	for i := range b {
		n := 0
		for j := i; n < window && j < len(b) && strings.IndexByte(secretLetters, b[j]|0x20) >= 0; j += step {
			got[n] = b[j] | 0x20
			n++
		}
		if n == window {
			if word := s.windows[string(got[:])]; word != "" {
				found[word] = true
			}
		}
	}
	return found
}

// mustFind fails unless every word can be found: a search that finds nothing
// proves nothing.
func (s *secrets) mustFind(t *testing.T, dir string) {
	t.Helper()
	found := s.traces(t, dir)
	for _, word := range slices.Compact(slices.Sorted(maps.Values(s.windows))) {
		if found[word] == nil {
			t.Errorf("%s is in no file before it is erased", word)
		}
	}
}

func (s *secrets) mustNotFind(t *testing.T, dir string) {
	t.Helper()
	found := s.traces(t, dir)
	if len(found) > 0 {
		t.Errorf("%d words are left:", len(found))
	}
	for word, files := range maps.All(found) {
		t.Errorf("%s is left in %v", word, files)
	}
}

// hide stores a memory every part of which is secret.
func (s *secrets) hide(t *testing.T, st *sqlite.Store, neighbour amber.MemoryID, contentWords int) amber.MemoryID {
	t.Helper()
	ctx := t.Context()
	content := s.words(contentWords)
	ack, err := st.Write(ctx, amber.WriteRequest{
		Title: strings.ToUpper(s.word()), Content: content, Summary: s.words(2), Topic: s.word(),
		Tags: []string{s.word(), s.word()}, Metadata: map[string]string{s.word(): s.word()},
		SourceRefs:     []amber.SourceRef{{Kind: s.word(), Value: "https://" + s.word() + ".example"}},
		IdempotencyKey: s.word(), Scope: amber.ScopeUser, Identities: amber.Identities{UserID: s.word()},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{s.words(5), content + " " + s.word(), s.words(5)} {
		r := amber.EditRequest{ID: ack.ID, Title: ptr(s.word()), Content: &content, Tags: ptr([]string{s.word()})}
		if _, err := st.Edit(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	_, err = st.AppendTurn(ctx, amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: "please remember " + content})
	for _, err := range []error{
		err,
		st.PutEmbedding(ctx, amber.Embedding{MemoryID: ack.ID, Model: s.word(), Vector: s.vector()}),
		st.SetConcepts(ctx, ack.ID, []string{s.word()}),
		only(st.Relate(ctx, amber.Relation{From: ack.ID, To: neighbour, Type: s.word()})),
		only(st.Relate(ctx, amber.Relation{From: neighbour, To: ack.ID, Type: s.word()})),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return ack.ID
}

func ptr[T any](v T) *T { return &v }

func only[T any](_ T, err error) error { return err }

// plainText returns words of a small vocabulary without a secret letter, and
// one that is the memory's own.
func plainText(random *mathrand.Rand, n int) string {
	const consonants, vowels = "bcdfghlmnprst", "aeiou"
	var b strings.Builder
	for range n {
		w := mathrand.New(mathrand.NewPCG(uint64(random.ExpFloat64()*800), 0))
		for range 2 + w.IntN(3) {
			b.WriteByte(consonants[w.IntN(len(consonants))])
			b.WriteByte(vowels[w.IntN(len(vowels))])
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// surround stores n memories about other things. Each holds a number in words
// of its own.
func surround(t *testing.T, st *sqlite.Store, random *mathrand.Rand, from, n int) (ids []amber.MemoryID) {
	t.Helper()
	for len(ids) < n {
		var rs []amber.WriteRequest
		for i := range min(amber.MaxBatchSize, n-len(ids)) {
			rs = append(rs, amber.WriteRequest{Title: numberWord(from + len(ids) + i), Content: plainText(random, 40)})
		}
		acks, err := st.WriteBatch(t.Context(), rs)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range acks {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// numberWord writes a number in letters the stemmer leaves alone.
func numberWord(n int) string {
	return "nu" + strings.Map(func(r rune) rune { return rune("bcdfghlmnp"[r-'0']) }, fmt.Sprint(n)) + "o"
}

// allThere fails unless each of the memories surround made is recalled.
func allThere(t *testing.T, st *sqlite.Store, ids []amber.MemoryID) {
	t.Helper()
	for i, id := range ids {
		got, err := st.Recall(t.Context(), amber.Query{Text: numberWord(i), Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Hits) != 1 || got.Hits[0].ID != id {
			t.Fatalf("memory %d is not recalled by its name: %v", i, got.Hits)
		}
	}
	healthy(t, st)
}
func TestEraseLeavesNoTrace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                 string
		before, between, end int // memories around
		secrets, words       int
		deleted              bool
	}{
		{"few memories", 10, 10, 0, 1, 12, false},
		{"alone", 1, 0, 0, 1, 12, false},
		{"deleted first", 10, 10, 0, 1, 12, true},
		{"many memories", 1500, 1500, 0, 20, 12, false},
		{"just written", 3000, 0, 0, 1, 12, false},
		{"a long text", 300, 300, 300, 1, 3000, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t)
			dir := st.Agent().Dir()
			random := mathrand.New(mathrand.NewPCG(1, 2))
			s := newSecrets()
			ids := surround(t, st, random, 0, c.before)
			var hidden []amber.MemoryID
			for range c.secrets {
				hidden = append(hidden, s.hide(t, st, ids[0], c.words))
			}
			ids = append(ids, surround(t, st, random, len(ids), c.between)...)
			s.mustFind(t, dir)
			for _, id := range hidden {
				if c.deleted {
					if err := st.Delete(t.Context(), id); err != nil {
						t.Fatal(err)
					}
				}
				report, err := st.Erase(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				if len(report.Remaining) > 0 {
					t.Errorf("remaining: %v", report.Remaining)
				}
			}
			s.mustNotFind(t, dir)
			ids = append(ids, surround(t, st, random, len(ids), c.end)...)
			s.mustNotFind(t, dir)
			allThere(t, st, ids)
		})
	}
}
