package ledger

import (
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// damaged is an error about a file that is not as it was written.
func damaged(op, id, why string) error {
	return &amber.Error{Op: op, Kind: amber.KindDamaged, ID: id, Err: errors.New(why), Hint: sqlconn.LeftAsItIs}
}
