package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// writer makes distinct texts of 40 to 120 words, their frequencies those of
// a natural language.
type writer struct {
	random *rand.Rand
	words  []string
	zipf   *rand.Zipf
}

func newWriter(seed uint64) *writer { return newWriterOf(seed, 20_000) }

// newWriterOf returns a writer that knows n words.
func newWriterOf(seed uint64, n int) *writer {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &writer{random: r, zipf: rand.NewZipf(r, 1.1, 2.7, uint64(n-1))}
	vocabulary := rand.New(rand.NewPCG(7, 7)) // the same for every writer
	for range n {
		b := make([]byte, 3+vocabulary.IntN(8))
		for i := range b {
			b[i] = "aeioubcdfglmnprstvwk"[vocabulary.IntN(20)]
		}
		w.words = append(w.words, string(b))
	}
	return w
}

func (w *writer) some(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = w.words[w.zipf.Uint64()]
	}
	return strings.Join(words, " ")
}

// text returns a new title and a new content.
func (w *writer) text(n int) (title, content string) {
	return w.some(5), fmt.Sprintf("%s %x%d", w.some(40+w.random.IntN(80)), w.random.Uint64(), n)
}

// question returns a few words, common and rare.
func (w *writer) question() []string {
	return []string{w.words[w.random.IntN(50)], w.words[100+w.random.IntN(900)], w.words[1000+w.random.IntN(9000)]}
}
