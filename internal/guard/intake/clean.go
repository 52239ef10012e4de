package intake

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
)

// Clean returns a store whose writes lose their secrets by the given rules; nil
// rules leave it as it is. Everything else goes to s unchanged.
func Clean(s amber.Store, rules *redact.Redactor) amber.Store {
	if rules == nil {
		return s
	}
	in := inlet{rules}
	p := &s.Parts
	p.LongTerm = longTerm{p.LongTerm, in}
	p.Batch = batch{p.Batch, in}
	p.Editor = editor{p.Editor, in}
	p.Relations = relations{p.Relations, in}
	p.Concepts = concepts{p.Concepts, in}
	p.Compactions = compactions{p.Compactions, in}
	p.Turns = turns{p.Turns, in}
	p.Loops = loops{p.Loops, in}
	p.Sessions = sessions{p.Sessions, in}
	p.Names = names{p.Names, in}
	p.States = states{p.States, in}
	p.Documents = documents{p.Documents, in}
	p.Notes = notes{p.Notes, in}
	p.Tasks = tasks{p.Tasks, in}
	p.Events = events{p.Events, in}
	p.Approvals = approvals{p.Approvals, in}
	p.Results = results{p.Results, in}
	p.Queue = queue{p.Queue, in}
	return s
}

// CleanAll is [Clean] for callers whose crash journal is not of this machine:
// what they have taken over of one is cleaned, too.
func CleanAll(s amber.Store, rules *redact.Redactor) amber.Store {
	s = Clean(s, rules)
	if rules != nil {
		s.Ingest = ingester{s.Ingest, inlet{rules}}
	}
	return s
}

// Text cleans a text that goes to no store, and counts what it took.
func Text(ctx context.Context, rules *redact.Redactor, s string) string {
	if rules == nil {
		return s
	}
	c := inlet{rules}.cleaner()
	s = c.text(s)
	_ = c.done(ctx) // no id was looked at
	return s
}

// inlet makes cleaners by the same rules.
type inlet struct{ rules *redact.Redactor }

func (in inlet) cleaner() *cleaner { return &cleaner{rules: in.rules} }
