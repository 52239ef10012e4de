package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
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
	must.Equal(t, "the status before anything went wrong", s.health(t.Context()).Status, amber.Healthy)
	who := op.Caller{Grant: wire.Grant{Scopes: wire.TokenScopes()}}
	if err := s.desk.Made(t.Context(), who, amber.DefaultTenant, amber.DefaultAgent); err == nil {
		t.Fatal("an entry was written to a full disk")
	}
	got := s.health(t.Context())
	if got.Status != amber.Degraded || got.Workers[0].Status != amber.Degraded || got.Workers[0].LastError == "" {
		t.Errorf("health is %+v", got)
	}
}

// A listener who is too slow is not told a story with holes: listening ends.
func TestListeningEndsWhereEventsAreLost(t *testing.T) {
	t.Parallel()
	bus, config := new(events.Bus), config.Default().Events
	first, goOn, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	heard := 0
	publish := func() {
		must.NoError(t, bus.Publish(t.Context(), events.Event{Subject: config.LifecyclePrefix + ".acme.ada.created"}))
	}
	go func() {
		over <- listening{bus, config}.Listen(t.Context(), "acme", "ada", func(events.Event) {
			if heard++; heard == 1 {
				close(first)
				<-goOn
			}
		})
	}()
	for begun := false; !begun; { // it may not have subscribed yet
		publish()
		select {
		case <-first:
			begun = true
		default:
		}
	}
	for range 2 * events.DefaultBuffer {
		publish()
	}
	close(goOn)
	must.Kind(t, "", <-over, amber.KindBusy)
	if heard > 1 {
		t.Errorf("%d events were heard after some were lost", heard-1)
	}
}

func TestBetweenTwoPlacesOfALog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from, to amber.Position
		want     int64
	}{
		{"", "", 0},
		{"", "a/3", 3},
		{"a/3", "a/7", 4},
		{"a/7", "a/3", 0},
		{"a/3", "b/7", 0}, // a restore came between
		{"nonsense", "a/3", 0},
	} {
		must.Equal(t, string(tt.from+" to "+tt.to), between(tt.from, tt.to), tt.want)
	}
}

// A visit that did nothing is not the last one, though nothing changes: events
// that are switched on later are not lost.
func TestAVisitThatDidNothingIsMadeAgain(t *testing.T) {
	t.Parallel()
	h, _, err := home.Open(t.TempDir()+"/home", home.Options{Clock: time.Now, Random: rand.Reader})
	must.Do(t, err)
	agent := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	store := must.Get(sqlite.Open(t.Context(), agent, sqlite.Options{Clock: time.Now, Random: rand.Reader}))(t)
	must.Do(t, store.Close())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := &Daemon{o: Options{Clock: time.Now, Home: h}}
	visits := 0
	report := func(_ string, err error) {
		if err != nil {
			t.Errorf("the stop is told as a failure: %v", err)
		}
	}
	must.NoError(t, s.rounds(ctx, report, 0, nil, func(context.Context, *home.Agent) (string, error) {
		if visits++; visits == 2 {
			cancel()
		}
		return "", errNotNow
	}))
	must.Equal(t, "visits", visits, 2)
}

// An event that the outbox has no room for is lost, and counted.
func TestAnEventThatTheOutboxDoesNotTakeIsCounted(t *testing.T) {
	t.Parallel()
	var bus events.Bus
	l := &lossy{Publisher: &bus}
	must.NoError(t, l.Publish(t.Context(), events.Event{}))
	must.Equal(t, "lost", l.lost.Load(), 0)
	l.Publisher = full{}
	must.Kind(t, "publish", l.Publish(t.Context(), events.Event{}), amber.KindQuota)
	must.Equal(t, "lost", l.lost.Load(), 1)
}

// full is an outbox without room.
type full struct{}

func (full) Publish(context.Context, events.Event) error {
	return amber.Errorf(amber.KindQuota, "publish event", "", "the outbox is full: 100000 events wait")
}
