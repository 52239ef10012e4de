package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/embed"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/store/sqlite"
)

// vocabulary is how many words the texts have that recall is measured with.
const vocabulary = 50_000

// The targets, as docs/benchmarks.md explains them. From manyPassages on a question may take
// longer.
const (
	limitInProcess = 30 * time.Millisecond
	limitOfMany    = 100 * time.Millisecond
	limitServed    = 60 * time.Millisecond // with 8 clients
	limitQuestions = time.Second / 28      // each, with 64 clients
	manyPassages   = 500_000

	// mostBare is how many memories are put into a bare table to compare with.
	mostBare = 200_000
)

// recallCounts is how many clients ask the server at a time.
var recallCounts = []int{1, 8, serveClients}

// recalls measures questions of several lengths, of rare and of common words, asked in this
// process, over HTTP and on the command line; by words alone, and with vectors.
func recalls(ctx context.Context, c config) outcome {
	b := &bench{dir: c.dir, writer: newWriterOf(uint64(time.Now().UnixNano()), vocabulary), largeN: c.large}
	home := filepath.Join(c.dir, "recall")
	b.growTo(ctx, home, c.large)
	b.vectors(ctx, home)
	var out outcome
	for _, m := range []recallModel{{"words", "none", nil}, {"words and meaning", "builtin", embed.OnDemand{}}} {
		within(m.name, func() {
			o := b.recallWith(ctx, c, home, m)
			out.ratios, out.lines = append(out.ratios, o.ratios...), append(out.lines, o.lines...)
		})
	}
	return out
}

// recallModel is a way to be asked: what it is called, what search.model says, and the model.
type recallModel struct {
	name, setting string
	model         search.Model
}

// recallWith measures one way to be asked.
func (b *bench) recallWith(ctx context.Context, c config, home string, m recallModel) outcome {
	o := options()
	o.Model = m.model
	s := get(sqlite.Open(ctx, agentIn(home), o))
	b.large = s
	out := outcome{ratios: b.inProcess(ctx, m.name)}
	check(s.Close())
	served, line := b.recallServed(ctx, c, home, m)
	out.ratios, out.lines = append(out.ratios, served...), append(out.lines, line)
	out.ratios = append(out.ratios, b.recallCommand(ctx, c, home, m))
	return out
}

// growTo makes a store of n memories, or adds to the one that an earlier run has left.
func (b *bench) growTo(ctx context.Context, home string, n int) {
	s := get(sqlite.Open(ctx, agentIn(home), options()))
	begin := time.Now()
	have := int(get(s.Stats(ctx)).Memories)
	for at := have; at < n; at += amber.MaxBatchSize {
		batch := make([]amber.WriteRequest, min(amber.MaxBatchSize, n-at))
		for i := range batch {
			batch[i] = b.request(at + i)
		}
		get(s.WriteBatch(ctx, batch))
	}
	check(s.Close())
	fmt.Printf("%d memories stored in %s, %d were there\n", max(0, n-have), time.Since(begin).Round(time.Millisecond), have)
}

// vectors gives every passage a vector under the name of the built-in model, which would take
// hours to make them: what a scan of them costs is the same.
func (b *bench) vectors(ctx context.Context, home string) {
	name := embed.OnDemand{}.Name()
	if name == "" {
		fail("this program was built without a model")
	}
	o := options()
	o.Model = chanceModel{name, 384}
	s := get(sqlite.Open(ctx, agentIn(home), o))
	begin := time.Now()
	made := 0
	err := s.SyncIndex(ctx, func(n int) { made += n }, nil)
	check(errors.Join(err, s.Close()))
	fmt.Printf("%d vectors stored in %s\n", made, time.Since(begin).Round(time.Millisecond))
}

// chanceModel makes vectors without meaning.
type chanceModel struct {
	name string
	dim  int
}

func (m chanceModel) Name() string { return m.name }

// Embed implements [search.Model].
func (m chanceModel) Embed(_ context.Context, texts []string, _ bool) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		seed := uint64(14695981039346656037)
		for _, c := range []byte(text) {
			seed = (seed ^ uint64(c)) * 1099511628211
		}
		r := rand.New(rand.NewPCG(seed, 1))
		v := make([]float32, m.dim)
		for k := range v {
			v[k] = float32(r.NormFloat64() / 20)
		}
		out[i] = v
	}
	return out, nil
}

// asking is a kind of question.
type asking struct {
	words  int
	common bool
}

func (a asking) String() string {
	if a.common {
		return fmt.Sprintf("%d common words", a.words)
	}
	return fmt.Sprintf("%d rare words", a.words)
}

// askings are the questions that are measured.
var askings = []asking{{2, false}, {2, true}, {8, false}, {8, true}, {20, false}, {20, true}}

// questionOf returns a question: common words are among the most frequent 100, rare ones are
// not among the most frequent 1000.
func (w *writer) questionOf(a asking) string {
	words := make([]string, a.words)
	for i := range words {
		if a.common {
			words[i] = w.words[w.random.IntN(100)]
		} else {
			words[i] = w.words[1000+w.random.IntN(len(w.words)-1000)]
		}
	}
	return strings.Join(words, " ")
}
