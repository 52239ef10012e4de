package redact_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/guard/redact"
)

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		redact.New()
	}
}

// BenchmarkFirst is what a short process pays: a Redactor, and a text of four
// kilobytes without a secret.
func BenchmarkFirst(b *testing.B) {
	text := negatives(b)["prose.md"][:4<<10]
	b.ReportAllocs()
	for b.Loop() {
		redact.New().String(text)
	}
}

// BenchmarkMarkdown is the usual case: notes that hold no secret, though they
// speak of some.
func BenchmarkMarkdown(b *testing.B) {
	texts := negatives(b)
	benchmark(b, texts["prose.md"]+texts["placeholders.md"])
}

// BenchmarkTranscript is what a hook sees.
func BenchmarkTranscript(b *testing.B) {
	benchmark(b, negatives(b)["transcript.jsonl.txt"])
}

// BenchmarkSecrets is the worst text that is not hostile: nothing but secrets.
func BenchmarkSecrets(b *testing.B) {
	var all strings.Builder
	for _, s := range samples(b, 2) {
		all.WriteString(s.Text() + "\n")
	}
	benchmark(b, all.String())
}

func benchmark(b *testing.B, text string) {
	const size = 4 << 20
	in := strings.Repeat(text, size/len(text)+1)
	r := redact.New()
	r.String(in) // compiles the expressions
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		r.String(in)
	}
}
