package vaultapi_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/serve/vaultapi"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// keyed is a request with an Idempotency-Key.
func keyed(q ask, key string) ask {
	q.header = servertest.Header("Idempotency-Key", key)
	return q
}

// TestAnswersAreRepeated: a change with a key is done once and answered the same
// each time; the key is good for no other.
func TestAnswersAreRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	w.rates = vaultapi.Rates{OperationsPerHour: 3}
	more := ask{method: "POST", path: "/vault/files/a.md/append", body: document("content", "x"), token: token}
	first := w.do(keyed(more, "k1")).want(200)
	w.clock.Forward(1e9)
	again := w.do(keyed(more, "k1")).want(200)
	if string(first.body) != string(again.body) || first.header.Get("ETag") != again.header.Get("ETag") ||
		first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s %s", first.body, again.body)
	}
	other := more
	other.body = document("content", "y")
	w.do(keyed(other, "k1")).fails(409, "idempotency_payload_mismatch")
	other = more
	other.path = "/vault/files/b.md/append"
	w.do(keyed(other, "k1")).fails(409, "idempotency_payload_mismatch")
	remove := ask{method: "DELETE", path: "/vault/files/a.md", token: token}
	w.do(keyed(remove, "k1")).want(204)
	w.do(keyed(remove, "k1")).want(204)
	w.do(keyed(more, "k2")).want(200)
	must.Equal(t, "content", w.get(token, "a.md").Content, "x")
	w.do(keyed(more, "k3")).fails(429, "RATE_LIMIT")
	w.clock.Forward(3600e9)
	w.do(keyed(more, "k3")).want(200) // one that failed may be tried again
	w.do(keyed(more, strings.Repeat("k", 201))).fails(400, "INVALID_INPUT")
	more.header = servertest.Header("Idempotency-Key", "a", "Idempotency-Key", "b")
	w.do(more).fails(400, "INVALID_INPUT")
}

// TestADoneChangeIsNotDoneTwice: what was done and could not be written down is
// not done again for the same key.
func TestADoneChangeIsNotDoneTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	more := keyed(ask{method: "POST", path: "/vault/files/a.md/append", body: document("content", "x"), token: token}, "k1")
	w.book.Break(errors.New("full"))
	w.do(more).fails(500, "INTERNAL_ERROR")
	w.book.Break(nil)
	w.do(more).fails(409, "CONFLICT")
	put := keyed(ask{method: "PUT", path: "/vault/files/b.md", body: document("content", "x"), token: token}, "k1")
	w.book.Break(errors.New("full"))
	w.do(put).fails(500, "INTERNAL_ERROR")
	w.book.Break(nil)
	w.do(put).want(200)
	must.Equal(t, "content", w.get(token, "a.md").Content, "x")
}

// forgetful appends, and does not know whether it did.
type forgetful struct{ vaultapi.Store }

func (f forgetful) Append(ctx context.Context, name, content string) (colony.FileInfo, error) {
	if _, err := f.Store.Append(ctx, name, content); err != nil {
		return colony.FileInfo{}, err
	}
	return colony.FileInfo{}, amber.Errorf(amber.KindUnreachable, "append", name, "the database did not answer: %w", amber.ErrUnknownOutcome)
}

// TestAnUnknownOutcomeIsNotDoneTwice: the database was lost while it stored something, so the same key does not store it again.
func TestAnUnknownOutcomeIsNotDoneTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *vaultapi.Options) {
		whole := o.Vault
		o.Vault = func(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (vaultapi.Store, error) {
			s, err := whole(ctx, tenant, agent)
			return forgetful{s}, err
		}
	})
	token := w.login(ada)
	more := keyed(ask{method: "POST", path: "/vault/files/a.md/append", body: document("content", "x"), token: token}, "k1")
	if r := w.do(more); r.status != 503 {
		t.Errorf("%d %s, want 503", r.status, r.body)
	}
	w.do(more).fails(409, "CONFLICT")
	must.Equal(t, "content", w.get(token, "a.md").Content, "x")
}

func TestKeysAreRefusedWhereNobodyRemembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *vaultapi.Options) { o.Answers = nil })
	token := w.login(ada)
	put := ask{method: "PUT", path: "/vault/files/b.md", body: document("content", "x"), token: token}
	w.do(keyed(put, "k1")).fails(501, "UNSUPPORTED")
	w.do(put).want(200)
	w.do(keyed(ask{method: "GET", path: "/vault/files/b.md", token: token}, "k1")).want(200)
}

// TestARepeatedAnswerIsForThoseWhoMayAsk: a token that may only read is refused
// whatever key it sends, and that is in the audit log.
func TestARepeatedAnswerIsForThoseWhoMayAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	put := keyed(ask{method: "PUT", path: "/vault/files/a.md", body: document("content", "x"), token: w.login(ada)}, "k1")
	w.do(put).want(200)
	put.token = w.login(adaRead)
	w.do(put).fails(403, "FORBIDDEN")
	if lines := w.audit(); len(lines) != 2 || lines[1] != "t-adaread acme/ada vault.put a.md refused" {
		t.Errorf("%q", lines)
	}
}

// dying keeps no answer: as if the process were killed in between.
type dying struct{ wire.Answers }

func (dying) FinishAnswer(context.Context, wire.AnswerKey, int, []byte) error { return nil }

// TestAnEndThatNobodyKnows has a server that died after a change and before its answer was kept. The server does a
// change again where that is harmless. For any other change it answers with a conflict, and never says that the
// condition did not hold, or that there was no such file.
func TestAnEndThatNobodyKnows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *vaultapi.Options) { o.Answers = dying{o.Answers} })
	token := w.login(ada)
	forgotten := func(q ask) reply {
		q.token = token
		key := q.method + q.header.Get("If-None-Match")
		if q.header == nil {
			q.header = servertest.Header()
		}
		q.header.Set("Idempotency-Key", key)
		if r := w.do(q); r.status/100 != 2 {
			t.Errorf("%s: %d %s", key, r.status, r.body)
		}
		return w.do(q)
	}
	body := document("content", "x")
	forgotten(ask{method: "PUT", path: "/vault/files/a.md", body: body}).want(200)
	forgotten(ask{method: "PUT", path: "/vault/files/b.md", body: body, header: servertest.Header("If-None-Match", "*")}).fails(409, "CONFLICT")
	forgotten(ask{method: "DELETE", path: "/vault/files/a.md"}).fails(409, "CONFLICT")
}
