package ledger_test

import (
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func BenchmarkAuthenticate(b *testing.B) {
	p := newPlace(b)
	d := p.open(b)
	made := newToken(b, d, wire.TokenRequest{})
	for b.Loop() {
		must.Get(d.Authenticate(b.Context(), made.Secret))(b)
	}
}

func BenchmarkRecord(b *testing.B) {
	d := newPlace(b).open(b)
	for b.Loop() {
		record(b, d, "one")
	}
}

func BenchmarkRecordTogether(b *testing.B) {
	d := newPlace(b).open(b)
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			record(b, d, "one")
		}
	})
}

func BenchmarkVerifyAudit(b *testing.B) {
	d := newPlace(b).open(b)
	const entries = 1000
	for range entries {
		record(b, d, "one")
	}
	for b.Loop() {
		verified(b, d, entries)
	}
}
