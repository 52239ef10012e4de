package pgtest

import (
	"context"
	"os"
	"path/filepath"
)

// Dump writes a database into a file of pg_dump, for [Server.RestoreDump].
func (s *Server) Dump(ctx context.Context, database string) (file string, err error) {
	if err := s.owned("pgtest.dump"); err != nil {
		return "", err
	}
	file = filepath.Join(s.dir.path, database+".dump")
	return file, s.dir.run(ctx, filepath.Join(s.bin, "pg_dump"), "-Fc", "-f", file, s.DSN(database))
}

// RestoreDump puts a database back as it was when it was dumped, in the place of the one that is there.
func (s *Server) RestoreDump(ctx context.Context, database, file string) error {
	if err := s.DropDatabase(ctx, database); err != nil {
		return err
	}
	if err := s.CreateDatabase(ctx, database); err != nil {
		return err
	}
	return s.dir.run(ctx, filepath.Join(s.bin, "pg_restore"), "-d", s.DSN(database), file)
}

// Archiving are settings of a server whose log is kept for [Backup.Recover].
func Archiving() map[string]string {
	return map[string]string{"archive_mode": "on", "archive_command": "mkdir -p ../archive && cp %p ../archive/%f"}
}

// Backup is a base backup of a server that has the settings of [Archiving].
type Backup struct{ of *Server }

// BaseBackup makes one. It goes with the server.
func (s *Server) BaseBackup(ctx context.Context) (Backup, error) {
	if err := s.owned("pgtest.backup"); err != nil {
		return Backup{}, err
	}
	primary := s.DSN("postgres")
	return Backup{s}, s.dir.run(ctx, filepath.Join(s.bin, "pg_basebackup"), "-D", filepath.Join(s.dir.path, "base"), "-d", primary, "-X", "none", "-c", "fast", "--no-sync")
}

// Mark names the present moment of a server.
func (s *Server) Mark(ctx context.Context, name string) error {
	return s.exec(ctx, "SELECT pg_create_restore_point('"+name+"')", "SELECT pg_switch_wal()")
}

// Recover stops the server and starts another one in its place, as the server was at a moment of [Server.Mark]. It listens where the
// server did.
func (b Backup) Recover(ctx context.Context, name string) error {
	s := b.of
	if err := s.Stop(); err != nil {
		return err
	}
	if err := s.dir.run(ctx, "/bin/mv", s.data(), filepath.Join(s.dir.path, "before")); err != nil {
		return err
	}
	if err := s.dir.run(ctx, "/bin/mv", filepath.Join(s.dir.path, "base"), s.data()); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(s.data(), "postgresql.conf"))
	if err != nil {
		return err
	}
	text = append(text, "restore_command = 'cp ../archive/%f %p'\nrecovery_target_name = '"+name+"'\nrecovery_target_action = 'promote'\narchive_mode = off\n"...)
	if err := s.write(filepath.Join(s.data(), "postgresql.conf"), string(text)); err != nil {
		return err
	}
	if err := s.write(filepath.Join(s.data(), "recovery.signal"), ""); err != nil {
		return err
	}
	if err := s.Restart(ctx); err != nil {
		return err
	}
	return s.await(ctx, "the promotion", "SELECT NOT pg_is_in_recovery()")
}

// Await runs a question that answers true or false until it answers true. The argument what describes the wait for
// errors.
func (s *Server) Await(ctx context.Context, what, question string) error {
	return s.await(ctx, what, question)
}
