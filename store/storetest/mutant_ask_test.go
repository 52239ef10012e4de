package storetest_test

import (
	"context"

	"github.com/amber-memory/amber"
)

// askFunc is a question to everything.
type askFunc func(ctx context.Context, q amber.Query, leave amber.Leave) (amber.RecallResult, error)

func (f askFunc) Ask(ctx context.Context, q amber.Query, leave amber.Leave) (amber.RecallResult, error) {
	return f(ctx, q, leave)
}

func askMutants() []mutant {
	narrow := func(p *amber.Parts) {
		p.Everything = askFunc(func(ctx context.Context, q amber.Query, leave amber.Leave) (amber.RecallResult, error) {
			if _, _, err := q.NormalizeAll(leave); err != nil {
				return amber.RecallResult{Hits: []amber.Hit{}}, err
			}
			return p.LongTerm.Recall(ctx, q)
		})
	}
	return []mutant{
		{"asks one project", "ask/finds-every-project-and-session", false, narrow},
		{"asks without leave", "ask/needs-leave", false, func(p *amber.Parts) {
			next := p.Everything
			p.Everything = askFunc(func(ctx context.Context, q amber.Query, _ amber.Leave) (amber.RecallResult, error) {
				return next.Ask(ctx, q, amber.LeaveOfOwner())
			})
		}},
		{"asks whatever the tags", "ask/finds-every-project-and-session", false, func(p *amber.Parts) {
			next := p.Everything
			p.Everything = askFunc(func(ctx context.Context, q amber.Query, leave amber.Leave) (amber.RecallResult, error) {
				q.Tags = nil
				return next.Ask(ctx, q, leave)
			})
		}},
		{"recalls everything", "ask/finds-every-project-and-session", false, func(p *amber.Parts) {
			everything := p.Everything
			recalling(func(ctx context.Context, _ amber.LongTerm, q amber.Query) (amber.RecallResult, error) {
				return everything.Ask(ctx, q, amber.LeaveOfOwner())
			})(p)
		}},
	}
}
