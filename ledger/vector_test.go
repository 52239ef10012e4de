package ledger_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/check"
	"github.com/amber-memory/amber/wire"
)

// vector is the home in testdata/v1: what a database of version 1 is for ever.
func vector(t *testing.T) place {
	t.Helper()
	p := newPlace(t)
	packed := check.Must(os.Open(filepath.Join("testdata", "v1", "home.db.gz")))(t)
	defer packed.Close()
	z := check.Must(gzip.NewReader(packed))(t)
	check.OK(t, os.WriteFile(p.path(), check.Must(io.ReadAll(z))(t), 0o600))
	check.OK(t, os.Mkdir(filepath.Dir(p.head()), 0o700))
	check.OK(t, os.WriteFile(p.head(), check.Must(os.ReadFile(filepath.Join("testdata", "v1", "audit-head")))(t), 0o600))
	return p
}

// Every version of Amber reads what version 1 has written: the token, the log
// and its end, the answer and the event.
func TestTheDatabaseOfVersion1IsRead(t *testing.T) {
	t.Parallel()
	p := vector(t)
	d := p.open(t)
	ctx := t.Context()
	grant := check.Must(d.Authenticate(ctx, "amber_ljnfuws2_ljnfuws2ljnfuws2ljnfuws2ljnfuws2ljnfuws2ljnfuws2ljna"))(t)
	want := wire.Grant{Token: "ljnfuws2", Name: "laptop", Tenant: "acme", Agent: "bob", Scopes: []wire.TokenScope{wire.TokenRead, wire.TokenWrite}}
	check.Equal(t, "grant", want, grant)
	entries := check.Must(d.ListAudit(ctx, wire.AuditQuery{}))(t).Items
	if len(entries) != 2 || entries[1].Hash != documentedHash || entries[0].Prev != documentedHash || entries[0].Hash != documentedHead {
		t.Errorf("audit log: %+v", entries)
	}
	if r := verified(t, d, 2); r.Head != documentedHead {
		t.Errorf("%+v", r)
	}
	key := wire.AnswerKey{Tenant: "acme", Agent: "bob", Operation: "note.write", Key: "key-1"}
	answer := check.Must(d.BeginAnswer(ctx, key, "digest", true))(t)
	check.Equal(t, "answer", wire.Answer{Done: true, Status: 200, Body: []byte(`{"name":"plan"}`)}, answer)
	events := check.Must(d.PendingEvents(ctx, 10))(t)
	if len(events) != 1 || events[0].Seq != 1 || events[0].Event.Subject != "amber.memory.snapshot.acme.bob.created" {
		t.Errorf("outbox: %+v", events)
	}
}

// documentedHead is the hash of the last entry in testdata/v1.
const documentedHead = "591e2941593e13cecd6344936c65c2efd159f7df825f9d01ef7cdebc9e1ef692"

// A head file is what docs/format/audit.md prints.
func TestTheHeadOfTheDocumentation(t *testing.T) {
	t.Parallel()
	want := []byte("amber-audit 1 2 " + documentedHead + "\n")
	if got := check.Must(os.ReadFile(vector(t).head()))(t); !bytes.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	page := string(check.Must(os.ReadFile(filepath.Join("..", "docs", "format", "audit.md")))(t))
	for _, text := range []string{documentedHash, string(want)} {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not have %q", text)
		}
	}
}
