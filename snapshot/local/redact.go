package local

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/redact"
	"github.com/amber-memory/amber/journal"
	"github.com/amber-memory/amber/snapshot"
	"github.com/amber-memory/amber/store/sqlite"
)

// redactor takes out what package redact knows.
type redactor struct{ rules *redact.Redactor }

func newRedactor() redactor { return redactor{redact.New()} }

var _ snapshot.Redactor = redactor{}

func (redactor) Policy() string { return "amber:default" }

func (r redactor) Database(ctx context.Context, path string) (amber.RedactionReport, error) {
	report, err := sqlite.Redact(ctx, path, r.rules, nil)
	return report.RedactionReport, err
}

func (r redactor) Document(name string, b []byte) ([]byte, []amber.RedactionCount) {
	out, report := r.rules.Document(name, b)
	return out, counts(report)
}

// counts lists how often each rule matched, by name.
func counts(r redact.Report) []amber.RedactionCount {
	var list []amber.RedactionCount
	for _, rule := range slices.Sorted(maps.Keys(r.Counts)) {
		list = append(list, amber.RedactionCount{Rule: rule, Count: int64(r.Counts[rule])})
	}
	return list
}

func (r redactor) Frames(ctx context.Context, m snapshot.Mark, in io.Reader, out io.Writer) ([]amber.RedactionCount, error) {
	var sum redact.Report
	_, err := journal.RewriteExtract(in, journal.Key(m.Key), out, func(payload []byte) ([]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clean, report := r.rules.Document("entry.json", payload)
		sum.Add(report)
		return clean, nil
	})
	return counts(sum), err
}
