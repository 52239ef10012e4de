package sqlite

import (
	"encoding/binary"
	"flag"
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
	"github.com/amber-memory/amber/internal/test/must"
)

// secretLetters spell every secret word and no other.
const secretLetters = "jkqvwxz"

// secrets makes words that occur nowhere else and remembers them. So many
// letters of one in a row, in any file, are a trace.
type secrets struct {
	random  *mathrand.Rand
	letters int
	parts   map[string]string // that many letters: the word they are from
}

func newSecrets(letters int) *secrets {
	return &secrets{mathrand.New(mathrand.NewPCG(7, 11)), letters, map[string]string{}}
}

// word returns a new word. The stemmer cuts the ending off some.
func (s *secrets) word() string {
	core := make([]byte, 12)
	for i := range core {
		core[i] = secretLetters[s.random.IntN(len(secretLetters))]
	}
	return s.remember(string(core) + []string{"", "ing", "ation", "s"}[s.random.IntN(4)])
}

func (s *secrets) remember(word string) string {
	core := strings.TrimRight(word, "aginost")
	for i := range len(core) - s.letters + 1 {
		s.parts[core[i:i+s.letters]] = word
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

// vector returns an embedding whose bytes spell a word.
func (s *secrets) vector() []float32 {
	word := s.word()
	v := make([]float32, 3)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32([]byte(word[4*i:])))
	}
	return v
}

// traces looks through every file below dir and returns the words it finds a
// trace of, in upper or lower case, as UTF-8 or UTF-16, with the files.
func (s *secrets) traces(t *testing.T, dir string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		for word := range s.traced(b) {
			found[word] = append(found[word], d.Name())
		}
		return err
	}))
	return found
}

func (s *secrets) traced(b []byte) map[string]bool {
	found := map[string]bool{}
	got := make([]byte, 0, s.letters)
	for i := range b {
		for _, step := range []int{1, 2} {
			got = got[:0]
			for j := i; len(got) < s.letters && j < len(b) && strings.IndexByte(secretLetters, b[j]|0x20) >= 0; j += step {
				got = append(got, b[j]|0x20)
			}
			if word := s.parts[string(got)]; word != "" {
				found[word] = true
			}
		}
	}
	return found
}

// mustBeIn fails unless each word can be found: a search that finds nothing
// there proves nothing later.
func (s *secrets) mustBeIn(t *testing.T, dir string) {
	t.Helper()
	found := s.traces(t, dir)
	for _, word := range slices.Compact(slices.Sorted(maps.Values(s.parts))) {
		must.Hold(t, found[word] != nil, "%s is in no file before it is erased", word)
	}
}

func (s *secrets) mustNotBeIn(t *testing.T, dir string) {
	t.Helper()
	for word, files := range s.traces(t, dir) {
		t.Errorf("%s is left in %v", word, files)
	}
}

// hide stores a memory every part of which is secret.
func (s *secrets) hide(t *testing.T, st *Store, neighbour amber.MemoryID, words int) amber.MemoryID {
	t.Helper()
	ctx := t.Context()
	content := s.words(words)
	id := save(t, st, amber.WriteRequest{
		Title: strings.ToUpper(s.word()), Content: content, Summary: s.words(2), Topic: s.word(),
		Tags: []string{s.word(), s.word()}, Metadata: map[string]string{s.word(): s.word()},
		SourceRefs:     []amber.SourceRef{{Kind: s.word(), Value: "https://" + s.word() + ".example"}},
		IdempotencyKey: s.word(), Scope: amber.ScopeUser, Identities: amber.Identities{UserID: s.word()},
	})
	for _, content := range []string{s.words(5), content + " " + s.word()} {
		title, tags := s.word(), []string{s.word()}
		must.Get(st.Edit(ctx, amber.EditRequest{ID: id, Title: &title, Content: &content, Tags: &tags}))(t)
	}
	must.Get(st.AppendTurn(ctx, amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: "please remember " + content}))(t)
	must.Do(t, st.PutEmbedding(ctx, amber.Embedding{MemoryID: id, Model: s.word(), Vector: s.vector()}))
	must.Do(t, st.SetConcepts(ctx, id, []string{s.word()}))
	must.Get(st.Relate(ctx, amber.Relation{From: id, To: neighbour, Type: s.word()}))(t)
	must.Get(st.Relate(ctx, amber.Relation{From: neighbour, To: id, Type: s.word()}))(t)
	link(t, st, s.random, id, s.word(), s.word())
	meddle(t, st.memory, `INSERT INTO sync_waiting (from_id, to_id, type, body) VALUES (?, 'nobody', ?, ?)`, id, s.word(), `{"type":"`+s.word()+`"}`)
	return id
}

// link ties a memory to a row of another tool.
func link(t *testing.T, s *Store, random *mathrand.Rand, id amber.MemoryID, fingerprint, extra string) {
	t.Helper()
	meddle(t, s.memory, `INSERT INTO sync_links (tool, chunk, ordinal, scope, record, version, local_id, fingerprint, extra)
VALUES ('t', ?, 1, 'memory', ?, '', ?, ?, ?)`, fmt.Sprintf("%x", random.Uint64()), id, random.Int64(), fingerprint, extra)
}

// plainText returns words without a secret letter, their frequencies those of
// a natural language.
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

var crowdSize = flag.Int("crowd", scale(80), "how many memories there are around one that is erased")

// crowd is the other memories of a store, each under a title of its own.
type crowd struct {
	random *mathrand.Rand
	ids    []amber.MemoryID
}

func newCrowd() *crowd { return &crowd{random: mathrand.New(mathrand.NewPCG(1, 2))} }

// grow adds n memories, a few at a time, so that the indexes have segments to
// merge.
func (c *crowd) grow(t *testing.T, s *Store, n int) {
	t.Helper()
	const few = 8
	for ; n > 0; n -= few {
		var rs []amber.WriteRequest
		for i := range min(few, n) {
			rs = append(rs, amber.WriteRequest{Title: c.title(len(c.ids) + i), Content: plainText(c.random, 20)})
		}
		for _, ack := range must.Get(s.WriteBatch(t.Context(), rs))(t) {
			c.ids = append(c.ids, ack.ID)
		}
	}
}

// link ties all of them to rows of another tool.
func (c *crowd) link(t *testing.T, s *Store) {
	t.Helper()
	for _, id := range c.ids {
		link(t, s, c.random, id, fmt.Sprintf("%x", c.random.Uint64()), plainText(c.random, 1+c.random.IntN(20)))
	}
}

// title writes a number in letters the stemmer leaves alone.
func (c *crowd) title(n int) string {
	return "nu" + strings.Map(func(r rune) rune { return rune("bcdfghlmnp"[r-'0']) }, fmt.Sprint(n)) + "o"
}

// mustBeIn fails unless the store is sound, which includes that the indexes
// know every memory, and one memory in ten is recalled by its title.
func (c *crowd) mustBeIn(t *testing.T, s *Store) {
	t.Helper()
	if n := must.Get(s.Stats(t.Context()))(t).Memories; n < int64(len(c.ids)) {
		t.Errorf("%d memories of %d are left", n, len(c.ids))
	}
	for i, id := range c.ids {
		if i%10 != 0 {
			continue
		}
		if got := found(t, s, amber.Query{Text: c.title(i), Limit: 1}); len(got) != 1 || got[0] != id {
			t.Fatalf("memory %d is not recalled by its title: %v", i, got)
		}
	}
	sound(t, s)
}

// sound fails where a check of the databases finds something.
func sound(t *testing.T, s *Store) {
	t.Helper()
	for _, f := range s.Check(t.Context()) {
		must.Hold(t, f.Err == nil, "%s of %s: %v", f.Check, f.File, f.Err)
	}
	must.Do(t, s.DeepCheck(t.Context()))
}
