// Package audited is what those who take requests and those who store agree on, so that a change and its entry in the audit log are one
// transaction: the entry travels in the context of the request, and a store that lies in the same database as the audit log writes it
// before it commits. A store that knows nothing of it writes none, and the entry is written after the change.
package audited

import (
	"context"
	"slices"
	"sync"

	"github.com/amber-memory/amber"
)

// Conn is the transaction of a change.
type Conn interface {
	// Later runs a statement that returns no rows, at the latest before the transaction is committed.
	Later(ctx context.Context, query string, args ...any) error
}

// Write writes the entry of a job about a subject, "" for none, into a transaction.
type Write func(ctx context.Context, c Conn, at amber.Time, subject string) error

// Job is a request that changes something. It is safe for concurrent use.
type Job struct {
	subject string
	write   Write

	mu      sync.Mutex
	entered []string // subjects of entries that are durable
	over    bool
}

type (
	jobKey   struct{}
	aboutKey struct{}
)

// NewJob returns a job that names its subject, "" where that is not known before, and how its entries are written.
func NewJob(subject string, write Write) *Job { return &Job{subject: subject, write: write} }

// With returns the context of what is done for a job.
func With(ctx context.Context, j *Job) context.Context {
	return context.WithValue(context.WithValue(ctx, jobKey{}, j), aboutKey{}, nil)
}

// About returns a context for the part of a job that changes these things, for a job that changes several one after the other: each gets
// an entry of its own.
func About(ctx context.Context, subjects ...string) context.Context {
	return context.WithValue(ctx, aboutKey{}, subjects)
}

// End says that the job is over and returns the subjects of the entries that were written with its changes. Later
// changes are not part of the job.
func (j *Job) End() []string {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.over = true
	return j.entered
}

// Transaction is one that changes something for a job. It is for one goroutine at a time.
type Transaction struct {
	job     *Job
	about   []string
	written []string
}

// Begin returns the transaction of a context; nil where it is that of no job.
func Begin(ctx context.Context) *Transaction {
	j, _ := ctx.Value(jobKey{}).(*Job)
	if j == nil {
		return nil
	}
	about, _ := ctx.Value(aboutKey{}).([]string)
	return &Transaction{job: j, about: about}
}

// Enter writes the entries of the transaction. The things that it changed are found, where the store reports them; id
// is the one that the caller asked to change. A job that names its subject writes the entries of the first transaction
// that changes something, and none for later ones. A job that names none writes an entry for each thing that was
// found. Either writes one for each thing that [About] names.
func (t *Transaction) Enter(ctx context.Context, c Conn, at amber.Time, found []string, id string) error {
	for _, subject := range t.subjects(found, id) {
		if err := t.job.write(ctx, c, at, subject); err != nil {
			return err
		}
		t.written = append(t.written, subject)
	}
	return nil
}

func (t *Transaction) subjects(found []string, id string) []string {
	j := t.job
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.over:
		return nil
	case t.about != nil:
		return j.others(t.about)
	case len(j.entered) == 0 && len(found) > 0:
		return found
	case len(j.entered) > 0 && j.subject == "":
		return j.others(found)
	case len(j.entered) > 0:
		return nil
	case j.subject != "":
		return []string{j.subject}
	}
	return []string{id}
}

// others are the subjects that have no entry yet; j.mu is held.
func (j *Job) others(subjects []string) []string {
	return slices.DeleteFunc(slices.Clone(subjects), func(s string) bool { return slices.Contains(j.entered, s) })
}

// Done takes the outcome of the transaction: nil when it is durable.
func (t *Transaction) Done(err error) {
	if err != nil || len(t.written) == 0 {
		return
	}
	t.job.mu.Lock()
	defer t.job.mu.Unlock()
	t.job.entered = append(t.job.entered, t.written...)
}
