package pgdb

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/test/must"
)

// Beyond this machine the certificate of the server is checked, or nothing is sent.
func TestWhereCertificatesAreNeeded(t *testing.T) {
	for _, name := range []string{"PGHOST", "PGSSLMODE", "PGSERVICE", "PGSSLROOTCERT"} {
		t.Setenv(name, "")
	}
	modes := []string{"", "disable", "allow", "prefer", "require", "verify-ca", "verify-full"}
	for host, here := range map[string]bool{
		"/var/run/postgresql": true, "localhost": true, "127.0.0.1": true, "127.8.8.8": true, "::1": true,
		"db.example.com": false, "10.0.0.7": false, "192.168.1.1": false, "fe80::1": false, "2001:db8::1": false, "0.0.0.0": false,
		"localhost.example.com": false, "127.0.0.1.example.com": false,
	} {
		for _, mode := range modes {
			dsn := "host=" + host + " user=u dbname=d"
			if mode != "" {
				dsn += " sslmode=" + mode
			}
			check(t, dsn, here || mode == "verify-full")
		}
	}
	for dsn, allowed := range map[string]bool{
		"postgres://u@db.example.com/d":                                         false,
		"postgres://u@db.example.com/d?sslmode=verify-full":                     true,
		"postgres://u@localhost/d":                                              true,
		"postgres://u@[::1]:5432/d":                                             true,
		"postgres://u@127.0.0.1:1,127.0.0.1:2/d":                                true,
		"postgres://u@127.0.0.1:1,db.example.com:2/d":                           false,
		"postgres://u@db.example.com:1,127.0.0.1:2/d":                           false,
		"postgres://u@a.example.com:1,b.example.com:2/d?sslmode=verify-full":    true,
		"host=/run/a,/run/b user=u":                                             true,
		"host=/run/a,10.0.0.1 user=u sslmode=require":                           false,
		"host=localhost,db.example.com user=u sslmode=verify-full":              true,
		"host=localhost,::1,127.0.0.1,db.example.com user=u sslmode=prefer":     false,
		"host=a.example.com,localhost,b.example.com user=u sslmode=verify-full": true,
	} {
		check(t, dsn, allowed)
	}
}

func check(t *testing.T, dsn string, allowed bool) {
	t.Helper()
	db, err := Open(Options{DSN: dsn})
	if err == nil {
		db.Close()
	}
	switch {
	case allowed:
		must.NoError(t, err)
	default:
		must.Kind(t, dsn, err, amber.KindRefused, "certificate")
		plain := must.Get(Open(Options{DSN: dsn, Plain: true}))(t)
		plain.Close()
	}
}

// No error contains the password, wherever it was written.
func TestPasswordsAreNotTold(t *testing.T) {
	const secret = "kuckuck-1877"
	closed := "127.0.0.1:1"
	for _, dsn := range []string{
		"postgres://u:" + secret + "@db.example.com/d",
		"postgres://u:" + secret + "@" + closed + "/d?sslmode=disable",
		"postgres://u:" + secret + "@" + closed + "," + closed + "/d?sslmode=disable",
		"postgres://u:" + secret + "@" + closed + "/d?sslmode=nonsense",
		"postgres://u:" + secret + "@" + closed + "/d?connect_timeout=soon",
		"postgres://u:" + secret + "@[::1/d",
		"postgres://u:" + secret + "@%zz/d",
		"postgres://u@" + closed + "/d?sslmode=disable&password=" + secret,
		"host=127.0.0.1 port=1 user=u password=" + secret,
		"host=127.0.0.1 port=x user=u password=" + secret,
		"host=127.0.0.1 port=1 password='" + secret,
		"password=" + secret + " host",
		secret,
	} {
		err := open(t.Context(), dsn)
		must.Error(t, "open", err)
		must.Hides(t, "the error", err.Error(), secret)
		must.Hides(t, "the error with its kind", pgerr.Wrap("x", "", err).Error(), secret)
	}
	t.Run("from the environment", func(t *testing.T) {
		t.Setenv("PGPASSWORD", secret)
		err := open(t.Context(), "host=127.0.0.1 port=1 user=u sslmode=disable")
		must.Error(t, "open", err)
		must.Hides(t, "the error", err.Error(), secret)
	})
}

// open asks a database for a connection.
func open(ctx context.Context, dsn string) error {
	db, err := Open(Options{DSN: dsn})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Conn(ctx, func(*pgx.Conn) error { return nil })
}
