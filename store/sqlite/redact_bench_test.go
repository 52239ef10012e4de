package sqlite

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/guard/redact/secrettest"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/test/must"
)

// BenchmarkRedact measures the redaction of a memory.db in which so many of a
// thousand memories hold a secret.
func BenchmarkRedact(b *testing.B) {
	s := bigStore(b)
	dir := b.TempDir()
	clean := filepath.Join(dir, "clean.db")
	copyFrozen(b, s, clean)
	for _, share := range []int{0, 1, 10} {
		b.Run(fmt.Sprintf("share=%d", share), func(b *testing.B) {
			from := filepath.Join(dir, fmt.Sprintf("%d.db", share))
			must.Do(b, os.Link(clean, from))
			if share > 0 {
				from = stained(b, clean, share)
			}
			info := must.Get(os.Stat(from))(b)
			b.SetBytes(info.Size())
			b.ReportAllocs()
			path := filepath.Join(dir, "memory.db")
			for b.Loop() {
				b.StopTimer()
				copyFile(b, from, path)
				b.StartTimer()
				report, err := image.Redact(b.Context(), path, redact.New(), nil, nil)
				if err != nil || (report.Matches > 0) != (share > 0) {
					b.Fatal(report, err)
				}
				b.ReportMetric(float64(report.Rows), "rows/op")
			}
		})
	}
}

// stained returns a copy of a memory.db with secrets in some memories.
func stained(b *testing.B, clean string, share int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "memory.db")
	copyFile(b, clean, path)
	db := must.Get(sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)"))(b)
	corpus := secrettest.Corpus(1)
	for i := range *bigSize * share / 1000 {
		content := "the key is " + corpus[i%len(corpus)].Text() + " for now"
		must.Get(db.Exec(`UPDATE memories SET content = content || ?, content_digest = ? WHERE rowid = ?`,
			content, amber.ContentDigest(content), i*1000/share+1))(b)
	}
	must.Do(b, db.Close())
	return path
}

func copyFile(b *testing.B, from, to string) {
	b.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	must.Do(b, err)
}
