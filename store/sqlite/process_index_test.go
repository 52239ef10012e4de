package sqlite_test

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

var indexKills = flag.Int("index.kills", 2, "how many processes are killed while they merge, make vectors or migrate")

// letterModel counts letters.
type letterModel struct{}

func (letterModel) Name() string { return "letters" }

func (letterModel) Embed(_ context.Context, texts []string, _ bool) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, 64)
		for _, c := range []byte(text) {
			out[i][c%64] += 0.05
		}
	}
	return out, nil
}

// saveBatches stores batches of memories that share words, until the process ends: segments
// are written, merged and dropped all the while. It deletes the first memory of each batch and
// changes the second one. It prints the word that only one memory of the batch has, and
// afterwards those of the memory that is gone and of the one that was changed.
func saveBatches(ctx context.Context, s *sqlite.Store, name string) error {
	for n := 0; ; n++ {
		batch := make([]amber.WriteRequest, amber.MaxBatchSize)
		word := func(i int) string { return fmt.Sprintf("word%sx%dx%d", name, n, i) }
		for i := range batch {
			batch[i].Content = fmt.Sprintf("%s of the marmots, group %d, den %d, and hill%d", word(i), i%7, i%31, n%13)
		}
		acks, err := s.WriteBatch(ctx, batch)
		if err != nil {
			return err
		}
		fmt.Println("kept", word(len(batch)-1))
		if err := s.Delete(ctx, acks[0].ID); err != nil {
			return err
		}
		fmt.Println("gone", word(0))
		text := "changed" + word(1)
		if _, err := s.Edit(ctx, amber.EditRequest{ID: acks[1].ID, Content: &text}); err != nil {
			return err
		}
		fmt.Println("kept", text)
		fmt.Println("gone", word(1))
	}
}

// killed runs a job and kills its process some time after it has printed so many lines. It
// reports whether the process ended by itself before.
func killed(t *testing.T, after int, wait time.Duration, each func(line string), job ...string) (ended bool) {
	t.Helper()
	lines := make(chan string, 64)
	cmd := start(t, lines, job...)
	kill := func() {
		time.Sleep(wait) // so that kills hit the process anywhere in its work
		_ = cmd.Process.Kill()
	}
	if after == 0 {
		go kill()
	}
	n := 0
	collect(lines, 1, func(line string) {
		each(line)
		if n++; n == after {
			go kill()
		}
	})
	return cmd.Wait() == nil
}

// TestKilledWhileSegmentsAreMerged kills writers in the middle of transactions that write and
// merge segments. Recall finds acknowledged memories by their words and does not find deleted
// ones, and the index is sound.
func TestKilledWhileSegmentsAreMerged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	found := map[string]bool{} // by word
	said := func(line string) {
		if what, word, ok := strings.Cut(line, " "); ok {
			found[word] = what == "kept"
		}
	}
	for round := range *indexKills {
		killed(t, 20+mathrand.IntN(40), time.Duration(mathrand.IntN(40))*time.Millisecond, said, "batches", dir, strconv.Itoa(round))
		s := openIn(t, dir)
		status := must.Get(s.IndexStatus(t.Context()))(t)
		must.Equal(t, "records that are not in the index", status.Waiting, 0)
		for word, want := range found {
			r := must.Get(s.Recall(t.Context(), amber.Query{Text: word, Limit: 1}))(t)
			if got := len(r.Hits) == 1 && strings.Fields(r.Hits[0].Content)[0] == word; got != want {
				t.Errorf("%s is found: %t, want %t", word, got, want)
			}
		}
		healthy(t, s)
		t.Logf("%d words, %d passages in %d segments", len(found), status.Passages, status.Segments)
		must.Do(t, s.Close())
	}
}

// TestKilledWhileVectorsAreMade kills processes that make vectors. Words are found all the
// while, the next process goes on, and little is made twice.
func TestKilledWhileVectorsAreMade(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), "home")
	s := openIn(t, dir)
	const batches = 8
	for n := range batches {
		batch := make([]amber.WriteRequest, amber.MaxBatchSize)
		for i := range batch {
			batch[i].Content = fmt.Sprintf("marmot number%dx%d sleeps", n, i)
		}
		must.Get(s.WriteBatch(ctx, batch))(t)
	}
	made := 0
	count := func(line string) {
		if n, err := strconv.Atoi(strings.TrimPrefix(line, "made ")); err == nil {
			made += n
		}
	}
	for range *indexKills {
		killed(t, 1+mathrand.IntN(6), time.Duration(mathrand.IntN(10))*time.Millisecond, count, "vectors", dir)
		r := must.Get(s.Recall(ctx, amber.Query{Text: "number7x255", Limit: 1}))(t)
		if len(r.Hits) != 1 || r.Hits[0].Content != "marmot number7x255 sleeps" {
			t.Errorf("the question has %d hits", len(r.Hits))
		}
		healthy(t, s)
	}
	must.Do(t, s.Close())
	h := must.Get(homeAt(dir))(t)
	s = must.Get(sqlite.Open(ctx, h, sqlite.Options{Clock: time.Now, Random: rand.Reader, Model: letterModel{}}))(t)
	defer s.Close()
	must.Do(t, s.SyncIndex(ctx, func(n int) { made += n }, nil))
	status := must.Get(s.IndexStatus(ctx))(t)
	if status.Vectors != batches*amber.MaxBatchSize || status.Pending != 0 || status.Waiting != 0 {
		t.Errorf("status is %+v", status)
	}
	// The count lacks vectors that a process had stored and not yet printed when it was killed.
	if most := batches * amber.MaxBatchSize; made > most || made < most-64**indexKills {
		t.Errorf("%d vectors were made in all, want %d, less at most 64 for each kill", made, most)
	}
	if r := must.Get(s.Recall(ctx, amber.Query{Text: "number7x255"}))(t); r.Degraded != "" {
		t.Errorf("the answer says %q", r.Degraded)
	}
	healthy(t, s)
}

// TestKilledWhileAnOlderFileIsMigrated kills processes that open a file of schema 4, each a
// little later, until one comes to its end.
func TestKilledWhileAnOlderFileIsMigrated(t *testing.T) {
	ctx := t.Context()
	memories := 1500 * *indexKills
	a, dir := sqlite.OldAgent(t, memories)
	kills := 0
	for wait := 20 * time.Millisecond; !killed(t, 0, wait, func(string) {}, "open", dir); wait += 40 * time.Millisecond {
		if kills++; kills > 500 {
			t.Fatal("no process gets through")
		}
	}
	t.Logf("%d processes were killed", kills)
	s := must.Get(sqlite.Open(ctx, a, sqlite.Options{Clock: time.Now, Random: rand.Reader}))(t)
	defer s.Close()
	status := must.Get(s.IndexStatus(ctx))(t)
	must.Hold(t, status.Waiting == 0 && status.Passages >= int64(memories), "status is %+v", status)
	for i := 1; i <= memories; i += 1 + memories/50 {
		text := fmt.Sprintf("marmot number %d", i)
		r := must.Get(s.Recall(ctx, amber.Query{Text: text, Limit: 1}))(t)
		if r.Degraded != "" || len(r.Hits) != 1 || r.Hits[0].Content != text {
			t.Errorf("%s: degraded %q, %d hits", text, r.Degraded, len(r.Hits))
		}
	}
	healthy(t, s)
}

// homeAt opens the default agent of a home.
func homeAt(dir string) (*home.Agent, error) {
	h, _, err := home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	return h.Agent(amber.DefaultTenant, amber.DefaultAgent)
}
