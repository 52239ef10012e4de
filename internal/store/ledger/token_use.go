package ledger

import (
	"context"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// usesEvery is how exactly it is known when a token was used last.
const usesEvery = time.Minute

// maxUses bounds the tokens that are remembered; beyond it some are written
// down once more than needed.
const maxUses = 4096

const updateUsed = `UPDATE tokens SET last_used_at = ?2 WHERE id = ?1 AND last_used_at < ?2`

// uses are the tokens that were used lately. Authenticating only notes a use; one goroutine at a
// time writes, and Close waits for it. A use that cannot be written is lost: its only purpose is to
// help to find tokens that are not in use.
type uses struct {
	mu      sync.Mutex
	last    map[wire.TokenID]amber.Time // the minute each was noted in
	waiting map[wire.TokenID]amber.Time // not written yet
	writing bool
	wg      sync.WaitGroup
}

// note remembers that a token was used, and has it written unless this minute's
// use is known already. It does not wait.
func (u *uses) note(d *DB, token wire.Token, now amber.Time) {
	minute := amber.At(now.Time().Truncate(usesEvery))
	if !token.LastUsedAt.Before(minute) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if last, ok := u.last[token.ID]; ok && !last.Before(minute) {
		return // it is waiting, or could not be written
	}
	if u.last == nil || len(u.last) >= maxUses {
		u.last = map[wire.TokenID]amber.Time{}
	}
	if u.waiting == nil {
		u.waiting = map[wire.TokenID]amber.Time{}
	}
	u.last[token.ID], u.waiting[token.ID] = minute, minute
	if !u.writing {
		u.writing = true
		u.wg.Go(func() { u.write(d) })
	}
}

// write writes what is waiting until nothing is.
func (u *uses) write(d *DB) {
	for {
		u.mu.Lock()
		batch := u.waiting
		u.waiting = nil
		if u.writing = len(batch) > 0; !u.writing {
			u.mu.Unlock()
			return
		}
		u.mu.Unlock()
		_ = d.engine.update(context.Background(), "note use of tokens", "", lockTokens, func(t *tx) error {
			for id, at := range batch {
				if _, err := t.exec(updateUsed, id, at.UnixMilli()); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// wait returns once everything is written. No call notes a use any more.
func (u *uses) wait() { u.wg.Wait() }
