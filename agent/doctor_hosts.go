package agent

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// HostsSeen tells when an event of each agent host last came: into the journal, or
// through it into the store. The error says what could not be read; the times that
// are known are returned with it.
func (a *Agent) HostsSeen(ctx context.Context) (map[string]amber.Time, error) {
	last := map[string]amber.Time{}
	note := func(host string, at amber.Time) {
		if last[host].Before(at) {
			last[host] = at
		}
	}
	return last, errors.Join(a.seenInJournal(ctx, note), a.seenInStore(ctx, note))
}

func (a *Agent) seenInJournal(ctx context.Context, note func(string, amber.Time)) error {
	j, err := a.Journal()
	if err != nil {
		return err
	}
	sessions, err := j.List(ctx, func(journal.Key) (int64, error) { return 0, nil })
	for _, s := range sessions {
		note(s.Host, s.LastSync)
	}
	return err
}

// seenInStore notes the last session of each host.
func (a *Agent) seenInStore(ctx context.Context, note func(string, amber.Time)) error {
	c, err := a.Cursors(ctx)
	if err != nil || c.store == nil { // no store yet
		return errors.Join(err, c.Close())
	}
	defer c.Close()
	for _, h := range hook.Hosts() {
		page, err := c.store.Sessions.ListSessions(ctx, amber.SessionQuery{Binding: string(h), Limit: 1})
		if err != nil {
			return err
		}
		for _, s := range page.Items {
			note(string(h), s.UpdatedAt)
		}
	}
	return nil
}
