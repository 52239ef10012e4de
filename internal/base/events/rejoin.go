package events

import (
	"context"

	"github.com/amber-memory/amber"
)

// scan is how many entries are read at a time when a log is searched.
const scan = 1000

// rejoin finds the place in a log that a restore has put in the place of the
// one that lost belongs to.
//
//	log before   A1 .. A50 A51 .. A80        lost is A80
//	log now      A1 .. A50 B51 B52           go on behind A50
//	log now      X1 .. X30 C31 C32           A is not in it: go on behind X30, where the newest begins
//
// What the old log had behind the fork was undone by the restore.
func (m *Mutations) rejoin(ctx context.Context, lost amber.Position) (amber.Position, error) {
	known, _, err := lost.Parse()
	if err != nil {
		return lost, err
	}
	head, err := m.Log.Head(ctx)
	if err != nil {
		return lost, err
	}
	newest, _, err := head.Parse()
	if err != nil {
		return lost, err
	}
	var (
		at      amber.Position // of the entry that was read last
		shared  amber.Position // the last entry of the incarnation that lost belongs to
		restart amber.Position // the last entry before those of the newest incarnation
	)
	for {
		changes, err := m.Log.Changes(ctx, at, scan)
		if err != nil {
			return lost, err
		}
		for _, c := range changes {
			at = c.Position
			in, _, err := at.Parse()
			if err != nil {
				return lost, err
			}
			if in == known {
				shared = at
			}
			if in != newest {
				restart = at
			}
		}
		if len(changes) < scan {
			break
		}
	}
	if shared != "" {
		return shared, nil
	}
	return restart, nil
}
