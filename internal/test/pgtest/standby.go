package pgtest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
)

// Standby makes a copy of the server that follows it and can be read, and waits until it gets
// what the server writes. With synchronous, the server acknowledges a commit only when the
// standby has it; the sessions' synchronous_commit says what having it means, and off, which is
// the default without Options.Durable, does not wait at all. The standby is closed with the
// server.
func (s *Server) Standby(ctx context.Context, name string, synchronous bool) (*Server, error) {
	if err := s.owned("pgtest.standby"); err != nil {
		return nil, err
	}
	standby, err := build(ctx, &Server{options: s.options, bin: s.bin}, func(b *Server) error {
		primary := "host=127.0.0.1 port=" + strconv.Itoa(s.port) + " user=postgres sslmode=disable application_name=" + word(name)
		err := b.dir.run(ctx, filepath.Join(s.bin, "pg_basebackup"), "-D", b.data(), "-d", primary, "-R", "-X", "stream", "-c", "fast", "--no-sync")
		if err != nil {
			return err
		}
		return b.independent()
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.standbys = append(s.standbys, standby)
	s.mu.Unlock()
	state := "%"
	if synchronous {
		state = "sync"
		if err := s.Alter(ctx, "synchronous_standby_names", pgx.Identifier{name}.Sanitize()); err != nil {
			return nil, err
		}
	}
	return standby, s.await(ctx, "streaming to "+name,
		"SELECT EXISTS (SELECT FROM pg_stat_replication WHERE application_name = $1 AND state = 'streaming' AND sync_state LIKE $2)", name, state)
}

// independent keeps a copy from waiting for the standby of its primary once it is promoted.
func (s *Server) independent() error {
	path := filepath.Join(s.data(), "postgresql.auto.conf")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := slices.DeleteFunc(strings.SplitAfter(string(text), "\n"), func(l string) bool {
		return strings.HasPrefix(l, "synchronous_standby_names")
	})
	return s.write(path, strings.Join(lines, ""))
}

// Promote makes a standby a primary and returns when it can be written.
func (s *Server) Promote(ctx context.Context) error {
	if err := s.owned("pgtest.promote"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var done bool
	if err := conn.QueryRow(ctx, "SELECT pg_promote(true, $1)", int(startLimit.Seconds())).Scan(&done); err != nil {
		return err
	}
	if !done {
		return amber.Errorf(amber.KindUnreachable, "pgtest.promote", s.dir.path, "the standby was not promoted in %v\n%s", startLimit, s.Log())
	}
	return nil
}
