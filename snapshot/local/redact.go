package local

import (
	"context"
	"fmt"
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

// newRedactor finds secrets by the given rules; nil: by those of Amber.
func newRedactor(rules *redact.Redactor) redactor {
	if rules == nil {
		rules = redact.New()
	}
	return redactor{rules}
}

var _ snapshot.Redactor = redactor{}

func (redactor) Policy() string { return "amber:default" }

func (r redactor) Begin() snapshot.Redaction {
	return &redaction{rules: r.rules, databases: map[string]*redact.Secrets{}}
}

// redaction is that of one export. All parts share what was found in any.
type redaction struct {
	rules     *redact.Redactor
	secrets   redact.Secrets
	databases map[string]*redact.Secrets // what each was searched for
	public    int                        // secrets that are something public
}

func (r *redaction) Learn(name string, b []byte) { r.rules.Look(name, b, r.secrets.Add) }

func (r *redaction) LearnDatabase(ctx context.Context, path string) error {
	return sqlite.FindSecrets(ctx, path, r.rules, &r.secrets)
}

func (r *redaction) LearnFrames(ctx context.Context, m snapshot.Mark, in io.Reader) error {
	_, err := journal.ReadExtract(in, journal.Key(m.Key), func(f journal.Frame) error {
		r.Learn(entryName, f.Payload)
		return ctx.Err()
	})
	return err
}

// entryName is what an entry of the journal would be called as a file.
const entryName = "entry.json"

func (r *redaction) Seal(public ...string) {
	r.secrets.Seal()
	for _, rule := range r.rules.Rules() {
		r.public += r.secrets.Allow(redact.Marker(rule))
	}
	for _, text := range public {
		r.public += r.secrets.Allow(text)
	}
}

func (r *redaction) Database(ctx context.Context, path string) (amber.RedactionReport, error) {
	known := r.secrets.Clone()
	report, err := sqlite.Redact(ctx, path, r.rules, known, nil)
	r.databases[path] = known
	return report.RedactionReport, err
}

func (r *redaction) Document(name string, b []byte) (snapshot.Redacted, error) {
	out, report, err := r.document(name, b)
	return snapshot.Redacted{
		Bytes: out, Counts: counts(report), Opaque: redact.ContentOf(name, b) == redact.ContentBinary,
	}, err
}

// document redacts until nothing is found any more: what was known may have
// stood where the rules see something else without it.
func (r *redaction) document(name string, b []byte) ([]byte, redact.Report, error) {
	const looks = 4 // two are enough for almost everything
	var sum redact.Report
	for range looks {
		out, report := r.rules.Document(name, b, &r.secrets)
		if report.Total == 0 {
			return b, sum, nil
		}
		b = out
		sum.Add(report)
	}
	return nil, sum, amber.Errorf(amber.KindInternal, "redact", name, "something is left after redaction")
}

// counts lists how often each rule matched, by name.
func counts(r redact.Report) []amber.RedactionCount {
	var list []amber.RedactionCount
	for _, rule := range slices.Sorted(maps.Keys(r.Counts)) {
		list = append(list, amber.RedactionCount{Rule: rule, Count: int64(r.Counts[rule])})
	}
	return list
}

func (r *redaction) Frames(ctx context.Context, m snapshot.Mark, in io.Reader, out io.Writer) ([]amber.RedactionCount, error) {
	var sum redact.Report
	_, err := journal.RewriteExtract(in, journal.Key(m.Key), out, func(payload []byte) ([]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clean, report, err := r.document(entryName, payload)
		sum.Add(report)
		return clean, err
	})
	return counts(sum), err
}

func (r *redaction) Search(ctx context.Context, of string, in io.Reader) error {
	search := r.secrets.SearchWhole
	if known, ok := r.databases[of]; ok {
		search = known.SearchWhole
	}
	leak, err := search(in, func(int) error { return ctx.Err() })
	if err == nil && leak != nil {
		err = amber.Errorf(amber.KindInternal, "search for secrets", "",
			"one of rule %s is left at byte %d", leak.Rule, leak.Offset)
	}
	return err
}

func (r *redaction) Notes() []string {
	plain, dropped := r.secrets.Left()
	var notes []string
	for _, n := range []struct {
		count int
		what  string
	}{
		{plain, "findings are too short or too plain to be looked for elsewhere; they were removed where they were recognised"},
		{dropped, "findings were too many to be looked for elsewhere; they were removed where they were recognised"},
		{r.public, "findings are part of something public, such as the name of the agent, and were not looked for elsewhere"},
	} {
		if n.count > 0 {
			notes = append(notes, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	return notes
}
