// Package pgerr gives the errors of PostgreSQL and of the way to it their kinds.
package pgerr

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/amber-memory/amber"
)

// Wrap gives an error of the database its kind. Errors that have one keep it. Arguments of
// statements and values of rows are never part of its text: what the server tells about the
// row in question is left out, and so is the message where it quotes a value.
func Wrap(op, id string, err error) error {
	var e *amber.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	out := &amber.Error{Op: op, Kind: amber.KindInternal, ID: id, Err: err}
	var (
		s     *pgconn.PgError
		parse *pgconn.ParseConfigError
	)
	switch {
	case errors.As(err, &parse): // it may quote the password
		out.Kind, out.Err = amber.KindInvalid, errors.New("the address of the database cannot be read")
		out.Hint = "write it as postgres://user@host:5432/database"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		out.Kind = amber.KindUnreachable
	case errors.As(err, &s):
		out.Err = &answer{s}
		if out.Kind, out.Hint = kindOf(s); out.Kind == amber.KindInternal && s.Severity == "FATAL" { // it ended the connection, or took none
			out.Kind, out.Hint = amber.KindUnreachable, unreachable
		}
	case IsLost(err):
		out.Kind, out.Hint = amber.KindUnreachable, unreachable
	}
	return out
}

// Code returns the five characters by which PostgreSQL names an error, "" where err does not come from a server.
func Code(err error) string {
	var s *pgconn.PgError
	if errors.As(err, &s) {
		return s.Code
	}
	return ""
}

// The hints.
const (
	unreachable = "check that the PostgreSQL server runs and can be reached"
	standby     = "name the primary of the database: this server takes no writes"
	taken       = "another writer holds it; try again"
	still       = "try again; nothing was changed. This program stood still in the middle of its work, and the server did not let others wait for it"
	crowded     = "raise max_connections of the PostgreSQL server, or lower memory.backends.postgres.connections of those who use it"
	full        = "check that the PostgreSQL server has memory and room on its disk"
	forbidden   = "check the user of the database and what it may do"
	broken      = "the PostgreSQL server found damaged data; look into its log before anything else"
)

// kindOf maps the codes of PostgreSQL.
func kindOf(e *pgconn.PgError) (amber.Kind, string) {
	switch e.Code {
	case "57P01", "57P02", "57P03": // shutting down, crashed, starting
		return amber.KindUnreachable, unreachable
	case "25006":
		return amber.KindUnreachable, standby
	case "25P03":
		return amber.KindUnreachable, still
	case "53300":
		return amber.KindUnreachable, crowded
	case "55P03":
		return amber.KindBusy, taken
	case "57014":
		if strings.Contains(e.Message, "lock timeout") {
			return amber.KindBusy, taken
		}
		return amber.KindUnreachable, ""
	case "53100", "53200":
		return amber.KindInternal, full
	case "42501":
		if e.Hint != "" {
			return amber.KindRefused, e.Hint
		}
		return amber.KindRefused, forbidden
	case "XX001", "XX002":
		return amber.KindDamaged, broken
	}
	switch class(e) {
	case "08":
		return amber.KindUnreachable, unreachable
	case "28":
		return amber.KindRefused, forbidden
	case "58":
		return amber.KindInternal, full
	}
	return amber.KindInternal, ""
}

func class(e *pgconn.PgError) string { return e.Code[:min(2, len(e.Code))] }

// IsLost reports whether there was no answer, or no connection to ask on.
func IsLost(err error) bool {
	var (
		network net.Error
		connect *pgconn.ConnectError
	)
	return errors.As(err, &network) || errors.As(err, &connect) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, pgconn.ErrConnClosed)
}

// answer is an error of the server without the values it may quote.
type answer struct{ err *pgconn.PgError }

func (a *answer) Error() string {
	code := " (" + a.err.Code + ")"
	switch {
	case a.err.Code == "25P03":
		return "the transaction was undone, because nothing was heard of this program for seconds; nothing was changed" + code
	case a.err.Code == "23505":
		return "there is a row already, by " + a.err.ConstraintName + code
	case class(a.err) == "22": // 22P02: invalid input syntax for type bigint: "the value"
		return "the server does not take a value" + code
	case class(a.err) == "23":
		return "a row breaks the rule " + a.err.ConstraintName + a.err.ColumnName + code
	}
	return a.err.Message + code
}

// Unwrap gives the server's error to those who ask for its code.
func (a *answer) Unwrap() error { return a.err }
