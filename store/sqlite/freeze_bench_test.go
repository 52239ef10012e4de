package sqlite

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

var (
	bigSize = flag.Int("big", 2000, "how many memories the agent of the benchmarks has")
	bigHome = flag.String("big-home", "", "where that agent lies; it is made if it is not there")
)

// bigStore returns a store with as many memories, each with a vector of 384
// numbers, as -big says, all distinct.
func bigStore(b *testing.B) *Store {
	b.Helper()
	dir := *bigHome
	if dir == "" {
		dir = b.TempDir()
	}
	_, err := os.Stat(filepath.Join(dir, "home"))
	made := err == nil
	clock := newHandClock().Now
	h, _, err := home.Open(filepath.Join(dir, "home"), home.Options{Clock: clock, Random: crand.Reader})
	must.Do(b, err)
	a := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(b)
	s := must.Get(Open(b.Context(), a, Options{Clock: clock, Random: crand.Reader}))(b)
	b.Cleanup(func() { _ = s.Close() })
	if made {
		return s
	}
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 2.7, 19_999)
	words := make([]string, 20_000)
	for i := range words {
		words[i] = fmt.Sprintf("w%x", r.Uint32N(1<<24))
	}
	text := func(n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = words[zipf.Uint64()]
		}
		return strings.Join(out, " ")
	}
	for done := 0; done < *bigSize; {
		var batch []amber.WriteRequest
		for range min(amber.MaxBatchSize, *bigSize-done) {
			batch = append(batch, amber.WriteRequest{Title: text(5), Content: fmt.Sprintf("%s %d", text(40+r.IntN(80)), done)})
			done++
		}
		acks, err := s.WriteBatch(b.Context(), batch)
		if err != nil {
			b.Fatal(err)
		}
		err = s.memory.Update(b.Context(), "embed", "", func(t *tx) error {
			for _, a := range acks {
				v := make([]byte, 0, 4*384)
				for range 384 {
					v = binary.LittleEndian.AppendUint32(v, r.Uint32()&0x3fffffff)
				}
				if _, err := t.Exec(sqlrows.UpsertEmbedding, a.ID, "m", 384, v); err != nil {
					return err
				}
			}
			return nil
		})
		must.Do(b, err)
	}
	return s
}

// BenchmarkFreeze measures what a fence waits for.
func BenchmarkFreeze(b *testing.B) {
	s := bigStore(b)
	c := must.Get(s.agent.Current())(b)
	for b.Loop() {
		frozen := must.Get(image.FreezeBoth(b.Context(), s.agent.GenDir(c), s.o.BusyTimeout))(b)
		for _, f := range frozen {
			_ = f.Close()
		}
	}
}

// BenchmarkReadPages measures how fast the pages of memory.db are handed out,
// with and without a reader that hashes them on another core.
func BenchmarkReadPages(b *testing.B) {
	s := bigStore(b)
	c := must.Get(s.agent.Current())(b)
	for _, hashing := range []bool{false, true} {
		b.Run(fmt.Sprintf("hashing=%v", hashing), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				frozen := must.Get(image.FreezeBoth(b.Context(), s.agent.GenDir(c), s.o.BusyTimeout))(b)
				info := frozen[0].Info()
				b.SetBytes(info.Pages * int64(info.PageSize))
				use, done := func([]byte) error { return nil }, func() {}
				if hashing {
					use, done = hashElsewhere(info.PageSize)
				}
				must.Do(b, frozen[0].ReadPages(b.Context(), use))
				done()
				for _, f := range frozen {
					_ = f.Close()
				}
			}
		})
	}
}

// hashElsewhere hashes pages in another goroutine.
func hashElsewhere(size int) (use func([]byte) error, done func()) {
	full, empty, end := make(chan []byte, 4), make(chan []byte, 4), make(chan struct{})
	for range cap(empty) {
		empty <- make([]byte, 256<<10) // as much as is handed out at a time
	}
	go func() {
		defer close(end)
		for b := range full {
			for p := range slices.Chunk(b, size) {
				sha256.Sum256(p)
			}
			empty <- b[:cap(b)]
		}
	}()
	return func(pages []byte) error {
			b := <-empty
			full <- b[:copy(b, pages)]
			return nil
		}, func() {
			close(full)
			<-end
		}
}
