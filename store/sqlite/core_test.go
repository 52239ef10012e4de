package sqlite

import (
	"context"
	"fmt"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/sqltext"
)

type scanner = sqlrows.Row

// statement is one of the contracts.
func statement(name string) string {
	all, err := statements()
	q, ok := all["sqlcore "+name]
	if !ok {
		panic(fmt.Sprintf("no statement %s: %v", name, err))
	}
	return q
}

// statements are all of the contracts.
var statements = sync.OnceValues(func() (map[string]string, error) {
	return sqltext.Constants("../../internal/store/sqlrows", "../../internal/store/sqlcore")
})

// update runs a transaction that answers.
func update[T any](ctx context.Context, d *database, op, id string, fn func(*tx) (T, error)) (v T, err error) {
	err = d.Update(ctx, op, id, func(t *tx) error {
		v, err = fn(t)
		return err
	})
	return v, err
}

// view is a read that answers.
func view[T any](ctx context.Context, d *database, op, id string, fn func(*tx) (T, error)) (v T, err error) {
	err = d.View(ctx, op, id, func(t *tx) error {
		v, err = fn(t)
		return err
	})
	return v, err
}

func turnRef(id string) amber.SyncRef { return amber.SyncRef{Scope: amber.ChangeTurn, ID: id} }

func sessionRef(id amber.SessionID) amber.SyncRef {
	return amber.SyncRef{Scope: amber.ChangeSession, ID: string(id)}
}

func memoryMark(m amber.Memory) amber.SyncMark {
	return amber.SyncMark{Ref: amber.SyncRef{Scope: amber.ChangeMemory, ID: string(m.ID)}, Origin: m.Origin}
}
