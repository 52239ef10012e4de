package daemon

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// fullDisk is an audit log that takes nothing.
type fullDisk struct{ wire.AuditLog }

func (fullDisk) Record(context.Context, wire.AuditEntry) error {
	return errors.New("the disk is full")
}

// A server that refuses every change because it cannot write it down is not
// well, and says what is wrong.
func TestAServerThatCannotRecordIsNotWell(t *testing.T) {
	t.Parallel()
	s := &Daemon{crew: server.NewCrew(time.Now), desk: &server.Desk{Audit: fullDisk{}}}
	s.crew.Go(auditWorker, func(ctx context.Context, _ server.Report) error { <-ctx.Done(); return nil })
	defer func() { _ = s.crew.Stop(context.Background()) }()
	if got := s.health(t.Context()); got.Status != amber.Healthy {
		t.Errorf("it is %s before anything went wrong", got.Status)
	}
	ctx := server.WithCaller(t.Context(), server.Caller{Grant: wire.Grant{Scopes: wire.TokenScopes()}})
	if err := s.desk.Made(ctx, amber.DefaultTenant, amber.DefaultAgent); err == nil {
		t.Fatal("an entry was written to a full disk")
	}
	got := s.health(t.Context())
	if got.Status != amber.Degraded || got.Workers[0].Status != amber.Degraded || got.Workers[0].LastError == "" {
		t.Errorf("health is %+v", got)
	}
}
