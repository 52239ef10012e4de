// Package contextblock builds the block of memory that is put before an agent's prompt, and
// cuts such blocks out of the prompts that hosts hand back.
package contextblock

import (
	"context"
	"fmt"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Build asks the policy, looks for what the request needs, and renders it: where the
// last sessions of the project left off and what stands, at the start of a session;
// what is relevant to a prompt; what a session has established, after a compaction.
//
// A block holds what was written here, signed by a trusted key, or found by rule in
// sessions of this home, unless the query of the policy is for trusted memories alone.
// It never holds what was imported, what tools printed, or what the identities of the
// request do not see, whatever the policy asks for. It is bounded, without control and
// direction characters, and empty where there is nothing to say.
//
// Random must be unpredictable. When most of the time of ctx is gone without an answer
// of recall, the block is what is known without it, and says so in Degraded. Errors:
// those of the store; a policy that says no is no error but an empty block with its
// decision.
func Build(ctx context.Context, s amber.Store, p amber.Policy, r wire.ContextRequest, random io.Reader) (wire.ContextBlock, error) {
	block := wire.ContextBlock{Memories: []amber.Hit{}, Sessions: []amber.Session{}}
	size, err := checkRequest(r)
	if err != nil {
		return block, err
	}
	query, decision := p.Recall(r.RecallInput)
	block.Decision = decision
	if !decision.Effective {
		return block, nil
	}
	query.Explain, query.Identities = r.Explain, both(query.Identities, r.Identities)
	b := &builder{Store: s, r: r, query: query, page: page{size: size}}
	if err := b.build(ctx); err != nil {
		return block, err
	}
	block.Degraded, block.Late = b.degraded, b.late
	if len(b.page.entries) == 0 {
		return block, nil
	}
	var nonce [16]byte
	if _, err := io.ReadFull(random, nonce[:]); err != nil {
		return block, &amber.Error{Op: "build context", Kind: amber.KindInternal, Err: err}
	}
	b.page.render(&block, fmt.Sprintf("%x", nonce))
	return block, nil
}

func checkRequest(r wire.ContextRequest) (size int, err error) {
	const op = "build context"
	switch {
	case r.MaxBytes != 0 && (r.MaxBytes < wire.MinContextBytes || r.MaxBytes > wire.MaxContextBytes):
		return 0, amber.Errorf(amber.KindInvalid, op, "", "max bytes is %d, not %d to %d", r.MaxBytes, wire.MinContextBytes, wire.MaxContextBytes)
	case len(r.Known) > wire.MaxKnown:
		return 0, amber.Errorf(amber.KindInvalid, op, "", "known has %d passages, the limit is %d", len(r.Known), wire.MaxKnown)
	case r.MaxBytes == 0:
		r.MaxBytes = wire.DefaultContextBytes
	}
	return r.MaxBytes, amber.CheckOneOf("occasion", r.Occasion, "", wire.OccasionStart, wire.OccasionPrompt, wire.OccasionCompaction)
}

// builder builds one block.
type builder struct {
	amber.Store
	r        wire.ContextRequest
	query    amber.Query // of the policy, as far as it may ask
	seen     map[passageID]string
	page     page
	degraded string
	late     bool
}

// build puts entries on the page.
func (b *builder) build(ctx context.Context) error {
	if err := b.findSeen(ctx); err != nil {
		return err
	}
	switch {
	case b.r.Occasion == wire.OccasionCompaction:
		if err := b.soFar(ctx); err != nil {
			return err
		}
		return b.standing(ctx)
	case b.r.Occasion == wire.OccasionStart, b.query.Text == "" && b.r.Occasion == "":
		return b.start(ctx)
	}
	asked, err := b.question(ctx)
	if err != nil || asked.text == "" {
		return err
	}
	err = b.inTime(ctx, asked)
	if err != nil || b.late || b.r.Occasion == wire.OccasionPrompt {
		return err
	}
	return b.leftOff(ctx) // for a person who begins with a goal
}

// start tells where the last sessions left off, and what stands.
func (b *builder) start(ctx context.Context) error {
	if err := b.leftOff(ctx); err != nil {
		return err
	}
	return b.standing(ctx)
}
