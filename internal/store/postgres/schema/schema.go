// Package schema is what Amber looks like in a PostgreSQL database: the tables, and the
// migrations that make and change them while programs of two versions work on it.
//
// The rows of agents are in the schemas amber (the tables of memory.db) and amber_control (those of control.db), each
// with the generation of its agent in front of every key. Rows that belong to no agent are in amber_home, the tables of
// home.db, and in amber_meta.
//
// A transaction on the rows of an agent begins with
//
//	SET LOCAL ROLE amber_app; SET LOCAL amber.gen = 7; SET LOCAL search_path = amber
//
// and sees and writes that generation alone. Without the setting every statement fails.
//
// A database has two numbers: that of the newest migration that was applied, and that of the newest
// one that a program has to know to work on it. Only a migration that takes
// something away raises the second, so that older programs go on while newer ones are started.
package schema

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgerr"
)

// oldest is the number of the migration without which the statements of this program fail.
const oldest = 3

// ErrOlder is in the error about a database that has to be migrated first.
var ErrOlder = errors.New("the database is older than this Amber")

// ErrEmpty is in the error about a database that has nothing of Amber. It is an [ErrOlder].
var ErrEmpty = fmt.Errorf("the database has no tables of Amber: %w", ErrOlder)

// Querier is what [Check] asks: a connection, a pool or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Version is how far a database is.
type Version struct {
	Number int64 // of the newest migration that was applied; 0 for an empty database
	Needs  int64 // number of the newest migration that a program has to know
}

// Newest returns the number of the newest migration that this program knows.
func Newest() int64 {
	all, _ := known() // a test reads them
	return all.newest()
}

// Judge says what is wrong with the version of a database that was read otherwise, with
// the head of an agent for example.
func Judge(v Version) error { return judge(v, Newest(), oldest) }

func judge(v Version, newest, oldest int64) error {
	switch {
	case v.Number == 0:
		return amber.Errorf(amber.KindConflict, op, "", "%w", ErrEmpty).WithHint(runIt)
	case v.Needs > newest:
		return amber.Errorf(amber.KindTooNew, op, "", "the database has schema %d, which needs a program that knows schema %d; this Amber knows schemas up to %d",
			v.Number, v.Needs, newest).WithHint("restart this program with the newer amber that migrated the database")
	case v.Number < oldest:
		return amber.Errorf(amber.KindConflict, op, "", "the database has schema %d, this Amber needs at least %d: %w", v.Number, oldest, ErrOlder).WithHint(runIt)
	}
	return nil
}

const (
	op    = "open database"
	runIt = "amber migrate --run"
)

// Check says whether this program can work on a database, and how far the database is. Its error is too_new where the database needs a
// newer program, a conflict with [ErrOlder] where it has to be migrated, damaged where
// what is there is not Amber's, and refused where a migration was applied whose file had other bytes.
func Check(ctx context.Context, q Querier) (Version, error) {
	all, err := known()
	if err != nil {
		return Version{}, pgerr.Wrap(op, "", err)
	}
	s, err := all.read(ctx, q)
	if err != nil {
		return Version{}, err
	}
	return s.Version, judge(s.Version, all.newest(), oldest)
}

// state is what a database says about itself.
type state struct {
	Version
	migrations map[int64]applied
}

// applied is a row of amber_meta.migrations.
type applied struct {
	Number              int64
	Name, SHA256, State string
	Steps               int64
}

const (
	selectPlace = `SELECT to_regnamespace('amber') IS NOT NULL OR to_regnamespace('amber_control') IS NOT NULL OR to_regnamespace('amber_home') IS NOT NULL,
 to_regnamespace('amber_meta') IS NOT NULL,
 current_setting('server_encoding'), current_setting('server_version_num')::int8`
	selectMeta = `SELECT to_regclass('amber_meta.version') IS NOT NULL AND to_regclass('amber_meta.migrations') IS NOT NULL`

	selectVersion    = `SELECT number, needs FROM amber_meta.version`
	selectMigrations = `SELECT number, name, sha256, state, steps FROM amber_meta.migrations ORDER BY number`
)

// oldestServer is the number of the oldest PostgreSQL that Amber runs on.
const oldestServer = 140000

// asIs asks without prepared statements, which poolers do not keep.
const asIs = pgx.QueryExecModeExec

// read looks how far a database is, and that it got there by the migrations of s.
func (s set) read(ctx context.Context, q Querier) (state, error) {
	out := state{migrations: map[int64]applied{}}
	var (
		agents, meta, whole bool
		encoding            string
		server              int64
	)
	if err := q.QueryRow(ctx, selectPlace, asIs).Scan(&agents, &meta, &encoding, &server); err != nil {
		return out, pgerr.Wrap(op, "", err)
	}
	switch {
	case server < oldestServer:
		return out, amber.Errorf(amber.KindUnsupported, op, "", "the server is PostgreSQL %d, Amber needs %d or newer", server/10000, oldestServer/10000)
	case encoding != "UTF8":
		return out, amber.Errorf(amber.KindRefused, op, "", "the encoding of the database is %s, not UTF8", encoding).
			WithHint("CREATE DATABASE amber ENCODING 'UTF8' TEMPLATE template0")
	case !agents && !meta:
		return out, nil
	}
	if meta {
		if err := q.QueryRow(ctx, selectMeta, asIs).Scan(&whole); err != nil {
			return out, pgerr.Wrap(op, "", err)
		}
	}
	if !whole {
		return out, foreign("it has a schema named amber, amber_control, amber_home or amber_meta, and not the tables of Amber in amber_meta")
	}
	err := q.QueryRow(ctx, selectVersion, asIs).Scan(&out.Number, &out.Needs)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return out, foreign("amber_meta.version has no row")
	case pgerr.Code(err) == "42703":
		return out, foreign("amber_meta.version lacks a column")
	case err != nil:
		return out, pgerr.Wrap(op, "", err)
	}
	rows, err := q.Query(ctx, selectMigrations, asIs)
	if err == nil {
		var a applied
		_, err = pgx.ForEachRow(rows, []any{&a.Number, &a.Name, &a.SHA256, &a.State, &a.Steps}, func() error {
			out.migrations[a.Number] = a
			return nil
		})
	}
	switch {
	case pgerr.Code(err) == "42703":
		return out, foreign("amber_meta.migrations lacks a column")
	case err != nil:
		return out, pgerr.Wrap(op, "", err)
	}
	return out, s.compare(out)
}

// compare looks that the migrations that a database has are those of s.
func (s set) compare(found state) error {
	if found.Number < 1 || found.Needs < 1 || found.Needs > found.Number {
		return foreign(fmt.Sprintf("amber_meta.version says %d and needs %d", found.Number, found.Needs))
	}
	for _, m := range s {
		a, ok := found.migrations[m.number]
		switch {
		case !ok && m.number <= found.Number:
			return foreign(fmt.Sprintf("amber_meta.migrations lacks number %d of %d", m.number, found.Number))
		case ok && a.SHA256 != m.sha256:
			return amber.Errorf(amber.KindRefused, op, m.name, "the database was migrated with another file of this number: %s with SHA-256 %.12s, this Amber has %.12s",
				a.Name, a.SHA256, m.sha256).WithHint("use the amber that migrated the database, or a newer release")
		}
	}
	return nil
}

func foreign(what string) error {
	return amber.Errorf(amber.KindDamaged, op, "", "the database is not one of Amber: %s", what).
		WithHint("name another database; Amber does not change this one")
}
