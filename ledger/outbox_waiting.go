package ledger

import "context"

// WaitingEvents returns how many events of the outbox wait to be handed on.
func (d *DB) WaitingEvents(ctx context.Context) (n int64, err error) {
	leave, err := d.enter()
	if err != nil {
		return 0, err
	}
	defer leave()
	err = d.view(ctx, "count waiting events", "", func(t *tx) error { return t.row(selectWaiting).Scan(&n) })
	return n, err
}
