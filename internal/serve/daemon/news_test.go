package daemon

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

// An event of one server reaches the others once, in order, and with a subject that each makes itself. They believe a database that belongs to a tenant
// nothing about another tenant, and take nothing that is no event of snapshots.
func TestServersTellEachOther(t *testing.T) {
	t.Parallel()
	pg := pgtest.Shared(t)
	database := func() func() *Database {
		dsn := pg.DSN(postgrestest.Database(t, pg))
		return func() *Database {
			server := must.Get(postgres.Connect(t.Context(), postgres.ServerOptions{DSN: dsn, Clock: time.Now, Random: rand.Reader}))(t)
			t.Cleanup(func() { must.Do(t, server.Close()) })
			return &Database{Server: server}
		}
	}
	common, own := database(), database()
	replica := func() (*Replica, *events.Bus) {
		r, bus := &Replica{Common: common(), Own: map[amber.TenantID]*Database{"acme": own()}}, &events.Bus{}
		for _, d := range r.All() {
			must.Do(t, r.hear(t.Context(), d, "p", bus))
		}
		return r, bus
	}
	event := func(tenant amber.TenantID, id string) events.Event {
		return events.Event{ID: id, Name: events.EventCreated, Subject: "another.one", Tenant: tenant, Agent: "ada", Payload: map[string]string{"id": id}}
	}
	first, _ := replica()
	must.Do(t, first.Publish(t.Context(), event("default", "before the other came")))
	second, bus := replica()
	all := must.Get(bus.Subscribe(">", 0))(t)
	for n := range 3 {
		must.Do(t, first.Publish(t.Context(), event("default", fmt.Sprint(n))))
	}
	must.Do(t, first.Publish(t.Context(), event("acme", "of acme")))
	large := event("default", "large")
	large.Payload = strings.Repeat("a", postgres.MaxNews)
	must.Do(t, first.Publish(t.Context(), large))
	for _, text := range []string{
		`{"id":"x","event":"created","tenant":"default","agent":"ada"}`, // in the database of acme
		`{"id":"x","event":"mutated","tenant":"acme","agent":"ada"}`,
		`{"id":"x","event":"created\ndata: x","tenant":"acme","agent":"ada"}`,
		`{"id":"x","event":"created","tenant":"acme","agent":"a.b"}`,
		`{"id":"x","event":"created","tenant":"../acme"}`,
		`{`,
	} {
		must.Do(t, first.Own["acme"].Server.Tell(t.Context(), []byte(text)))
	}
	for range 2 { // the second time there is nothing new
		for _, d := range second.All() {
			must.Do(t, second.hear(t.Context(), d, "p", bus))
		}
	}
	all.Close()
	var got []string
	for e := range all.C {
		got = append(got, e.Subject+" "+e.ID)
		want := fmt.Sprintf(`{"id":%q}`, e.ID)
		if e.ID == "large" {
			want = "null" // left out
		}
		must.Equal(t, "payload of "+e.ID, string(e.Payload.(json.RawMessage)), want)
	}
	must.Equal(t, "heard", got, []string{"p.default.ada.created 0", "p.default.ada.created 1", "p.default.ada.created 2", "p.default.ada.created large", "p.acme.ada.created of acme"})
}
