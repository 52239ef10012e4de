package cli

import (
	"context"
	"time"
)

// WriteBudget is how long a command that has stored one memory or note may make its vectors.
const WriteBudget = 300 * time.Millisecond

// IndexWritten makes vectors of the records that a command has written, after they were acknowledged. A
// server makes its own.
func (s *Opened) IndexWritten(ctx context.Context, budget time.Duration) {
	if s.Local != nil {
		s.Local.SyncWithin(ctx, budget)
	}
}
