package ledger_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// vector is the home in testdata/v1: what a database of version 1 is for ever.
func vector(t *testing.T) place {
	t.Helper()
	p := newPlace(t)
	packed := must.Get(os.Open(filepath.Join("testdata", "v1", "home.db.gz")))(t)
	defer packed.Close()
	z := must.Get(gzip.NewReader(packed))(t)
	must.Do(t, os.WriteFile(p.path(), must.Get(io.ReadAll(z))(t), 0o600))
	must.Do(t, os.Mkdir(filepath.Dir(p.head()), 0o700))
	must.Do(t, os.WriteFile(p.head(), must.Get(os.ReadFile(filepath.Join("testdata", "v1", "audit-head")))(t), 0o600))
	return p
}

// Every version of Amber reads what version 1 has written: the token, the log
// and its end, the answer and the event.
func TestTheDatabaseOfVersion1IsRead(t *testing.T) {
	t.Parallel()
	p := vector(t)
	d := p.open(t)
	ctx := t.Context()
	grant := must.Get(d.Authenticate(ctx, "amber_ljnfuws2_ljnfuws2ljnfuws2ljnfuws2ljnfuws2ljnfuws2ljnfuws2ljna"))(t)
	want := wire.Grant{Token: "ljnfuws2", Name: "laptop", Tenant: "acme", Agent: "bob", Scopes: []wire.TokenScope{wire.TokenRead, wire.TokenWrite}}
	must.Equal(t, "grant", grant, want)
	entries := must.Get(d.ListAudit(ctx, wire.AuditQuery{}))(t).Items
	if len(entries) != 2 || entries[1].Hash != documentedHash || entries[0].Prev != documentedHash || entries[0].Hash != documentedHead {
		t.Errorf("audit log: %+v", entries)
	}
	must.Equal(t, "head", verified(t, d, 2).Head, documentedHead)
	key := wire.AnswerKey{Tenant: "acme", Agent: "bob", Operation: "note.write", Key: "key-1"}
	answer := must.Get(d.BeginAnswer(ctx, key, "digest", true))(t)
	must.Equal(t, "answer", answer, wire.Answer{Done: true, Status: 200, Body: []byte(`{"name":"plan"}`)})
	events := must.Get(d.PendingEvents(ctx, 10))(t)
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
	if got := must.Get(os.ReadFile(vector(t).head()))(t); !bytes.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	page := string(must.Get(os.ReadFile(filepath.Join("..", "..", "..", "docs", "format", "audit.md")))(t))
	for _, text := range []string{documentedHash, string(want)} {
		must.Hold(t, strings.Contains(page, text), "the page does not have %q", text)
	}
}
