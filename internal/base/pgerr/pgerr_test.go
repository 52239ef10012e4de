package pgerr_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestKinds(t *testing.T) {
	for code, want := range map[string]amber.Kind{
		"08006": amber.KindUnreachable, "57P01": amber.KindUnreachable, "57P02": amber.KindUnreachable,
		"57P03": amber.KindUnreachable, "25006": amber.KindUnreachable, "57014": amber.KindUnreachable,
		"55P03": amber.KindBusy, "53300": amber.KindUnreachable,
		"53100": amber.KindInternal, "53200": amber.KindInternal, "58030": amber.KindInternal, "40P01": amber.KindInternal,
		"42501": amber.KindRefused, "28P01": amber.KindRefused,
		"XX001": amber.KindDamaged, "XX002": amber.KindDamaged,
		"XX000": amber.KindInternal, "42P01": amber.KindInternal, "": amber.KindInternal,
	} {
		err := pgerr.Wrap("write memory", "m1", fmt.Errorf("round it: %w", &pgconn.PgError{Code: code, Message: "so it is"}))
		must.Kind(t, code, err, want, "write memory m1", "so it is")
		must.Equal(t, "code", pgerr.Code(err), code)
	}
	for name, c := range map[string]struct {
		err  error
		want amber.Kind
	}{
		"canceled":     {context.Canceled, amber.KindUnreachable},
		"deadline":     {fmt.Errorf("timeout: %w", context.DeadlineExceeded), amber.KindUnreachable},
		"end":          {io.EOF, amber.KindUnreachable},
		"half":         {fmt.Errorf("receive: %w", io.ErrUnexpectedEOF), amber.KindUnreachable},
		"network":      {&net.OpError{Op: "dial", Err: errors.New("refused")}, amber.KindUnreachable},
		"closed":       {pgconn.ErrConnClosed, amber.KindUnreachable},
		"lock timeout": {&pgconn.PgError{Code: "57014", Message: "canceling statement due to lock timeout"}, amber.KindBusy},
		"another":      {errors.New("no idea"), amber.KindInternal},
		"has a kind":   {amber.Errorf(amber.KindQuota, "count", "", "too many"), amber.KindQuota},
	} {
		must.Kind(t, name, pgerr.Wrap("op", "", c.err), c.want)
	}
	must.NoError(t, pgerr.Wrap("op", "", nil))
	must.Equal(t, "code of another error", pgerr.Code(io.EOF), "")
}

// A connection that is missing is no lock that another program holds, and work that the server gave up was not done.
func TestWhatCannotBeDoneNow(t *testing.T) {
	err := pgerr.Wrap("write memory", "", &pgconn.PgError{Severity: "FATAL", Code: "53300", Message: "sorry, too many clients already"})
	must.Kind(t, "no connection", err, amber.KindUnreachable, "too many clients already")
	must.Says(t, "hint", amber.HintOf(err), "max_connections")
	for _, e := range []*pgconn.PgError{{Code: "3D000", Message: `database "amber" does not exist`}, {Code: "55000", Message: `database "amber" is not currently accepting connections`}} {
		must.Kind(t, e.Code+" in a transaction", pgerr.Wrap("write memory", "", e), amber.KindInternal)
		e.Severity = "FATAL"
		must.Kind(t, e.Code+" instead of a connection", pgerr.Wrap("write memory", "", e), amber.KindUnreachable)
	}
	err = pgerr.Wrap("write memory", "", &pgconn.PgError{Severity: "FATAL", Code: "25P03", Message: "terminating connection due to idle-in-transaction timeout"})
	must.Kind(t, "stood still", err, amber.KindUnreachable, "nothing was changed")
}

// The hint of the server names the statements that an operator has to run.
func TestHintOfServer(t *testing.T) {
	err := pgerr.Wrap("op", "", &pgconn.PgError{Code: "42501", Message: "may not", Hint: "CREATE ROLE amber_app"})
	must.Equal(t, "hint", amber.HintOf(err), "CREATE ROLE amber_app")
}

func TestNoValues(t *testing.T) {
	const secret = "hunter2"
	for _, e := range []*pgconn.PgError{
		{Code: "23505", Message: "duplicate key", Detail: "Key (id)=(hunter2) already exists.", ConstraintName: "memories_gen_id_key"},
		{Code: "23502", Message: "null value", Detail: "Failing row contains (hunter2).", ColumnName: "title"},
		{Code: "22P02", Message: `invalid input syntax for type bigint: "hunter2"`},
		{Code: "42P01", Message: "no such table", Detail: secret, Where: secret, InternalQuery: secret},
	} {
		err := pgerr.Wrap("write memory", "", e)
		must.Hides(t, e.Code, err.Error(), secret)
		must.Hides(t, e.Code, fmt.Sprintf("%v %+v", err, err), secret)
	}
	_, err := pgconn.ParseConfig("postgres://user:hunter2@host:port/db")
	err = pgerr.Wrap("open database", "", err)
	must.Kind(t, "address", err, amber.KindInvalid)
	must.Hides(t, "address", err.Error(), secret)
	must.Says(t, "", pgerr.Wrap("op", "", &pgconn.PgError{Code: "23505", ConstraintName: "memories_gen_id_key"}).Error(), "memories_gen_id_key")
}
