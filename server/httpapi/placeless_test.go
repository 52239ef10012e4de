package httpapi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/server/httpapi"
)

// Whoever belongs to a tenant is not told where things lie on this machine;
// whoever owns it is. What users wrote stays as it is.
func TestReportsNameNoPlaces(t *testing.T) {
	t.Parallel()
	const place, hidden = "open /srv/amber/repo/aa: it is cut", "(the log of the server tells more)"
	report := amber.Page[amber.SnapshotMeta]{Items: []amber.SnapshotMeta{{
		Label: "of /srv/amber", Damage: place, Warnings: []string{"fine", place},
		Skipped: []amber.Skipped{{Part: "notes", Path: "a/b", Reason: "unreadable", Detail: place}},
	}}}
	owner := server.WithCaller(t.Context(), server.Caller{})
	tenant := server.WithCaller(t.Context(), server.Caller{Grant: amber.Grant{Tenant: "acme"}})
	if diff := cmp.Diff(report, httpapi.Placeless(owner, report), cmp.AllowUnexported(amber.Time{})); diff != "" {
		t.Errorf("the owner misses something:\n%s", diff)
	}
	want := amber.Page[amber.SnapshotMeta]{Items: []amber.SnapshotMeta{{
		Label: "of /srv/amber", Damage: hidden, Warnings: []string{"fine", hidden},
		Skipped: []amber.Skipped{{Part: "notes", Path: "a/b", Reason: "unreadable", Detail: hidden}},
	}}}
	if diff := cmp.Diff(want, httpapi.Placeless(tenant, report), cmp.AllowUnexported(amber.Time{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if report.Items[0].Damage != place || report.Items[0].Warnings[1] != place {
		t.Error("the report itself was changed")
	}
}
