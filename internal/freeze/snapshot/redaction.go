package snapshot

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/wire"
)

// redactionPolicy names the rules of package redact in reports.
const redactionPolicy = "amber:default"

// redaction takes secrets out of the parts of one export: it learns from all
// parts, is sealed, and then removes from each part what the rules found in any
// of them. One goroutine uses it.
type redaction struct {
	rules     *redact.Redactor
	secrets   redact.Secrets
	databases map[string]*redact.Secrets // by path: what each copy was searched for
	public    int                        // findings that are public text
}

func newRedaction(rules *redact.Redactor) *redaction {
	if rules == nil {
		rules = redact.New()
	}
	return &redaction{rules: rules, databases: map[string]*redact.Secrets{}}
}

// redacted is a file without secrets.
type redacted struct {
	bytes  []byte // may be what went in
	counts []wire.RedactionCount
	opaque bool // the file is no text: content that is packed in it was not seen
}

// learn looks for secrets in a file, learnDatabase in a memory.db or control.db,
// learnFrames in captured journal entries.
func (r *redaction) learn(name string, b []byte) { r.rules.Look(name, b, r.secrets.Add) }

func (r *redaction) learnDatabase(ctx context.Context, path string) error {
	return image.FindSecrets(ctx, path, r.rules, &r.secrets)
}

func (r *redaction) learnFrames(ctx context.Context, m repo.JournalMark, in io.Reader) error {
	_, err := journal.ReadExtract(in, journal.Key(m.Key), func(f journal.Frame) error {
		r.learn(entryName, f.Payload)
		return ctx.Err()
	})
	return err
}

// entryName is what an entry of the journal would be called as a file.
const entryName = "entry.json"

// seal ends the learning. Public text stays wherever it stands.
func (r *redaction) seal(public ...string) {
	r.secrets.Seal()
	for _, rule := range r.rules.Rules() {
		r.public += r.secrets.Allow(redact.Marker(rule))
	}
	for _, text := range public {
		r.public += r.secrets.Allow(text)
	}
}

// database rewrites a copy of memory.db or control.db, and searches the copy.
func (r *redaction) database(ctx context.Context, path string) (wire.RedactionReport, error) {
	known := r.secrets.Clone()
	report, err := image.Redact(ctx, path, r.rules, known)
	r.databases[path] = known
	return report, err
}

// file returns a file without secrets. Errors: internal when a secret is left.
func (r *redaction) file(name string, b []byte) (redacted, error) {
	out, report, err := r.document(name, b)
	return redacted{
		bytes: out, counts: counts(report), opaque: redact.ContentOf(name, b) == redact.ContentBinary,
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
	return nil, sum, amber.Errorf(amber.KindInternal, "redact", name, "rules still match after %d rounds", looks)
}

// counts lists how often each rule matched, by name.
func counts(r redact.Report) []wire.RedactionCount {
	var list []wire.RedactionCount
	for _, rule := range slices.Sorted(maps.Keys(r.Counts)) {
		list = append(list, wire.RedactionCount{Rule: rule, Count: int64(r.Counts[rule])})
	}
	return list
}

// frames copies captured journal entries without secrets.
func (r *redaction) frames(ctx context.Context, m repo.JournalMark, in io.Reader, out io.Writer) ([]wire.RedactionCount, error) {
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

// search looks for secrets in every byte of a staged file. The parameter of names the database that
// the file was made from, by the path given to [redaction.database]; "" for other files. The error
// is of kind internal.
func (r *redaction) search(ctx context.Context, of string, in io.Reader) error {
	whole := r.secrets.SearchWhole
	if known, ok := r.databases[of]; ok {
		whole = known.SearchWhole
	}
	leak, err := whole(in, func(int) error { return ctx.Err() })
	if err == nil && leak != nil {
		err = amber.Errorf(amber.KindInternal, "search for secrets", "",
			"a secret of rule %s is left at byte %d", leak.Rule, leak.Offset)
	}
	return err
}

// notes says which findings could not be searched for.
func (r *redaction) notes() []string {
	plain, dropped := r.secrets.Left()
	var list []string
	for _, n := range []struct {
		count int
		what  string
	}{
		{plain, "findings are too short or too common to be searched for elsewhere; they were removed where a rule recognised them"},
		{dropped, "findings were too many to be searched for elsewhere; they were removed where a rule recognised them"},
		{r.public, "findings are part of public text, such as the name of the agent, and were not searched for elsewhere"},
	} {
		if n.count > 0 {
			list = append(list, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	return list
}
