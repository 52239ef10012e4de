package engram_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/internal/test/must"
)

// BenchmarkRead reads a chunk of ten thousand memories, each about a kilobyte of JSON.
func BenchmarkRead(b *testing.B) {
	var c engram.Chunk
	for i := range 10_000 {
		c.Observations = append(c.Observations, note(func(o *engram.Observation) {
			o.ID, o.Content = int64(i), fmt.Sprint(i)+strings.Repeat(" word", 140)
		}))
	}
	id, text, gz := engram.EncodeChunk(c)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		c := must.Get(engram.DecodeChunk(id, gz))(b)
		if rows, dropped := engram.ToRecords(c, engram.ReadOptions{}); len(rows) != 10_000 || len(dropped) > 0 {
			b.Fatal(len(rows), dropped)
		}
	}
}
