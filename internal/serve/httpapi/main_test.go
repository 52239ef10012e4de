package httpapi_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestMain looks for goroutines, sockets and files that tests leave behind.
func TestMain(m *testing.M) {
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		_ = l.Close() // what the runtime needs for sockets is there from now on
	}
	before := descriptors()
	code := m.Run()
	if code == 0 {
		code = leaks(before)
	}
	os.Exit(code)
}

func leaks(before map[string]int) int {
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := 0
	for target, n := range descriptors() {
		if n > before[target] {
			fmt.Fprintf(os.Stderr, "%d descriptors of %s were left open\n", n-before[target], target)
			code = 1
		}
	}
	return code
}

// descriptors counts open sockets and files of tests. It counts none on a system without /proc.
func descriptors() map[string]int {
	open := map[string]int{}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		switch {
		case err != nil:
		case strings.HasPrefix(target, "socket:"):
			open["sockets"]++
		case strings.Contains(target, "/Test"):
			open[target]++
		}
	}
	return open
}

// door knows tokens and answers as the program does: by the database of a home.
type door struct {
	*ledger.DB
	t testing.TB
}

func newDoor(t testing.TB, c amber.Clock) door { return door{servertest.Ledger(t, c), t} }

func (d door) Grant(ctx context.Context, secret string) (wire.Grant, error) {
	return d.Authenticate(ctx, secret)
}

// token makes a token; ttl 0 is for ever.
func (d door) token(now time.Time, tenant amber.TenantID, agent amber.AgentID, ttl time.Duration, scopes ...wire.TokenScope) (string, wire.TokenID) {
	d.t.Helper()
	q := wire.TokenRequest{Name: "test", Tenant: tenant, Agent: agent, Scopes: scopes}
	if ttl > 0 {
		q.ExpiresAt = amber.At(now.Add(ttl))
	}
	made := must.Get(d.CreateToken(context.Background(), q))(d.t)
	return made.Secret, made.ID
}
