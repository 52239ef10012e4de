package pgdb

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/amber-memory/amber/internal/test/must"
)

// Amber asks again, unless the server refuses to name its timeline.
func TestWhatIsUntold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code string
		want bool
	}{
		{"42501", true}, {"42883", true}, {"0A000", true}, // no right, no such function, not supported
		{"53200", false}, {"57014", false}, {"57P01", false}, {"XX000", false},
	} {
		must.Equal(t, c.code, isUntold(&pgconn.PgError{Severity: "ERROR", Code: c.code}), c.want)
	}
	must.Equal(t, "a lost connection", isUntold(errors.New("EOF")), false)
}
