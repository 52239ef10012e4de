package chunk_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/must"
)

// notes are memories of some hundred bytes each, of words as often as words are.
func notes(n int) []amber.SyncRecord {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the of store file when memory chunk import tea and is a test that by git session error index key never branch we prefer because release " +
		"docker compose postgres migration handler timeout retry cache token deploy staging feature flag config yaml json query slow fix")
	list := make([]amber.SyncRecord, n)
	for i := range list {
		var b strings.Builder
		for range 40 + r.IntN(40) {
			w := words[r.IntN(len(words))]
			if r.IntN(3) == 0 {
				w = fmt.Sprintf("%s%x", w, r.IntN(1<<16))
			}
			b.WriteString(w + " ")
		}
		id := amber.MemoryID(fmt.Sprintf("01998c5e-8000-7abc-8def-%012x", r.Uint64N(1<<48)))
		list[i].Memory = memory(id, b.String(), uint64(i+1))
	}
	return list
}

func BenchmarkEncode(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			records := notes(n)
			_, file := mustEncode(b, header(), records, nil)
			size := len(textOf(b, file))
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				mustEncode(b, header(), records, nil)
			}
			b.ReportMetric(float64(size)/float64(len(file)), "ratio")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			id, file := mustEncode(b, header(), notes(n), newSigner(1))
			b.SetBytes(int64(len(textOf(b, file))))
			b.ReportAllocs()
			for b.Loop() {
				must.Get(chunk.Decode(id, file))(b)
			}
		})
	}
}

func BenchmarkDecodeHeader(b *testing.B) {
	id, file := mustEncode(b, header(), notes(1000), newSigner(1))
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		must.Get(chunk.DecodeHeader(id, file))(b)
	}
}
