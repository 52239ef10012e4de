package pgdb

import (
	"context"
	"sync"
	"time"
)

// awakeEvery is how often a program that works beside its transaction says so, well within [writerIdle].
const awakeEvery = time.Second

// Awake says to the server, again and again, that this program lives: it works beside a transaction that writes, and says nothing else there.
// The connection must not be used before sleep was called, which may be called twice. Where the program stands still, nothing is said, and the
// server undoes the transaction.
func (c *Conn) Awake(ctx context.Context) (sleep func()) {
	ended := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(awakeEvery)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), writerIdle)
			err := c.pg.PgConn().Exec(late, "SELECT").Close()
			cancel()
			if c.why(err) != nil {
				return // the next statement finds that the connection is gone, and says why
			}
		}
	})
	return sync.OnceFunc(func() {
		close(ended)
		wg.Wait()
	})
}
