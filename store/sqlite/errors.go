package sqlite

import (
	"database/sql"
	"errors"

	"github.com/amber-memory/amber"
)

// notFound answers for a record that is not there.
func notFound(op, id string) error {
	return amber.Errorf(amber.KindNotFound, op, id, "there is no such record")
}

// absent reports whether a query found no row.
func absent(err error) bool { return errors.Is(err, sql.ErrNoRows) }
