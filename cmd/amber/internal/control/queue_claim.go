package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) queueClaimCommand() *cobra.Command {
	var consumer string
	var wait time.Duration
	cmd := cli.Verb("claim", func(cmd *cobra.Command, _ []string) error {
		if err := amber.CheckID("consumer id", consumer); err != nil {
			return err
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			claim, err := waitForClaim(ctx, s.Store.Queue, consumer, wait)
			if err != nil {
				return explainClaim(err)
			}
			return a.Out.Show(claim, func(w io.Writer) { a.printClaim(w, claim) })
		})
	})
	cmd.Flags().StringVar(&consumer, "consumer", "", "who takes it")
	cli.SpanVar(cmd.Flags(), &wait, "wait", 0, "how long to wait for an entry")
	return cmd
}

// Polls begin close together, for work that is about to come, and get
// further apart, so that an idle worker costs little.
const (
	firstPoll = 20 * time.Millisecond
	lastPoll  = time.Second
)

// waitForClaim claims an entry, asking again for as long as there is none.
// When the time is up it returns the last answer.
func waitForClaim(ctx context.Context, q amber.Queue, consumer string, wait time.Duration) (amber.Claim, error) {
	over := time.After(wait)
	for pause := firstPoll; ; pause = min(2*pause, lastPoll) {
		claim, err := q.Claim(ctx, consumer)
		if wait == 0 || !errors.Is(err, amber.ErrQueueEmpty) && !errors.Is(err, amber.ErrQueueFull) {
			return claim, err
		}
		select {
		case <-time.After(pause):
		case <-over:
			return q.Claim(ctx, consumer) // something may have come during the pause
		case <-ctx.Done():
			return amber.Claim{}, &amber.Error{Op: "claim entry", Kind: amber.KindUnreachable, Err: errors.New("interrupted while waiting")}
		}
	}
}

// explainClaim adds to an answer without an entry what to do next.
func explainClaim(err error) error {
	var e *amber.Error
	if !errors.As(err, &e) {
		return err
	}
	answer := *e
	switch {
	case errors.Is(err, amber.ErrQueueEmpty):
		answer.Hint = "wait for one with --wait 1m"
	case errors.Is(err, amber.ErrQueueFull):
		answer.Hint = "finish work with amber queue ack, or wait for it with --wait 1m"
	default:
		return err
	}
	return &answer
}

func (a *app) printClaim(w io.Writer, c amber.Claim) {
	fmt.Fprintln(w, a.Out.Style(cli.Bold, cli.Flat(c.Envelope.EntryID)))
	a.Out.Fact(w, "task", c.Envelope.TaskID)
	a.Out.Fact(w, "node", c.Envelope.NodeID)
	a.Out.Fact(w, "attempt", fmt.Sprint(c.Envelope.Attempt))
	a.Out.Fact(w, "token", c.Lease.Token)
	a.Out.Fact(w, "fence", fmt.Sprint(c.Lease.Fence))
	a.Out.Fact(w, "expires", c.Lease.ExpiresAt.String())
	fmt.Fprintf(w, "\n%s\n", cli.Safe(c.Envelope.Payload))
}
