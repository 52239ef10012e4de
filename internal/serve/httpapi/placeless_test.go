package httpapi_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// A caller of one tenant does not learn where things lie on this machine; the owner does. Text that users wrote
// stays as it is.
func TestReportsNameNoPlaces(t *testing.T) {
	t.Parallel()
	const place, hidden = "open /srv/amber/repo/aa: it is cut", op.Unplaced
	report := amber.Page[wire.SnapshotMeta]{Items: []wire.SnapshotMeta{{
		Label: "of /srv/amber", Damage: place, Warnings: []string{"fine", place},
		Skipped: []wire.Skipped{{Part: "notes", Path: "a/b", Reason: "unreadable", Detail: place}},
	}}}
	owner := op.Caller{}
	tenant := op.Caller{Grant: wire.Grant{Tenant: "acme"}}
	must.Equal(t, "the owner misses something", op.Placeless(owner, report), report, cmp.AllowUnexported(amber.Time{}))
	want := amber.Page[wire.SnapshotMeta]{Items: []wire.SnapshotMeta{{
		Label: "of /srv/amber", Damage: hidden, Warnings: []string{"fine", hidden},
		Skipped: []wire.Skipped{{Part: "notes", Path: "a/b", Reason: "unreadable", Detail: hidden}},
	}}}
	must.Equal(t, "", op.Placeless(tenant, report), want, cmp.AllowUnexported(amber.Time{}))
	must.Equal(t, "the damage of the report itself", report.Items[0].Damage, place)
	must.Equal(t, "the warning of the report itself", report.Items[0].Warnings[1], place)
}

// leaky is a store whose reports name places.
type leaky struct{}

const leakyPlace = "a copy in /srv/amber/repo"

func (leaky) Erase(_ context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	return amber.EraseReport{ID: id, Removed: []string{"1 revision"}, Remaining: []string{"1 snapshot", leakyPlace}}, nil
}

// unwell is a store whose health names a place of the machine.
type unwell struct{ amber.LongTerm }

func (unwell) Health(context.Context) (amber.Health, error) {
	return amber.Health{Backend: "sqlite", Status: amber.Degraded, Detail: "open /srv/amber/repo: it is read-only"}, nil
}

// stuck is a replica that set a chunk aside.
type stuck struct{ amber.Replica }

func (stuck) SyncReport(context.Context, string) (amber.SyncReport, error) {
	return amber.SyncReport{Quarantined: []amber.QuarantinedChunk{{ID: "c", Reason: "read /srv/amber/repo/c: it is cut"}}}, nil
}

// Reports about an agent's own store name no places either, and what an erasure
// leaves is in the log.
func TestReportsOfTheStoreNameNoPlaces(t *testing.T) {
	t.Parallel()
	d := newDiary()
	r := newRig(t, d.kept, func(r *rig, _ *httpapi.Options) {
		ag := r.agents["acme/ada"]
		ag.Store.Eraser, ag.Store.LongTerm, ag.Store.Sync = leaky{}, unwell{ag.Store.LongTerm}, stuck{}
		ag.Journal = func(context.Context) ([]wire.JournalStatus, error) {
			return []wire.JournalStatus{{Key: "k", LastError: "open /srv/amber/repo/k: no space"}}, nil
		}
	})
	erase := "memories/00000000-0000-7000-8000-000000000001/erase"
	for path, method := range map[string]string{erase: "POST", "journal": "GET", "health": "GET", "sync?place=origin": "GET"} {
		a := r.ask(call{method: method, path: path, token: ada}).want(200)
		must.Hides(t, "what somebody of the tenant is told", string(a.body), "/srv")
		must.Says(t, "what somebody of the tenant is told", string(a.body), op.Unplaced)
		must.Says(t, "what the owner of the machine is told", string(r.ask(call{method: method, path: path}).want(200).body), "/srv")
	}
	must.Equal(t, "what names no place", r.ask(call{method: "POST", path: erase, token: ada}).text("remaining.0"), "1 snapshot")
	if got := d.from(slog.LevelWarn); len(got) != 2 || !strings.Contains(got[0].attrs["remaining"], leakyPlace) {
		t.Errorf("the log says %+v", got)
	}
}
