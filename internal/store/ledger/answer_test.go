package ledger_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func keyNamed(key string) wire.AnswerKey {
	return wire.AnswerKey{Tenant: "acme", Agent: "bob", Operation: "memory.write", Key: key}
}

// begin begins an answer that no caller has given.
func begin(t testing.TB, d *ledger.DB, k wire.AnswerKey) {
	t.Helper()
	if a := must.Get(d.BeginAnswer(context.Background(), k, "digest", false))(t); a.Done {
		t.Fatalf("%v was answered: %+v", k, a)
	}
}

func finish(t testing.TB, d *ledger.DB, k wire.AnswerKey, body string) {
	t.Helper()
	begin(t, d, k)
	must.Do(t, d.FinishAnswer(context.Background(), k, 201, []byte(body)))
}

func TestARepeatedRequestGetsTheSameAnswer(t *testing.T) {
	both(t, testARepeatedRequestGetsTheSameAnswer)
}

func testARepeatedRequestGetsTheSameAnswer(t *testing.T, p place) {
	d := p.open(t)
	k := keyNamed("k")
	begin(t, d, k)
	must.Fail(d.BeginAnswer(t.Context(), k, "digest", true))(t, "while it is answered", amber.KindBusy)
	must.Fail(p.open(t).BeginAnswer(t.Context(), k, "digest", true))(t, "while another process answers it", amber.KindBusy)
	must.Do(t, d.FinishAnswer(t.Context(), k, 201, []byte("body")))
	want := wire.Answer{Done: true, Status: 201, Body: []byte("body")}
	for _, db := range []*ledger.DB{d, p.open(t)} {
		must.Equal(t, "", must.Get(db.BeginAnswer(t.Context(), k, "digest", false))(t), want)
	}
	must.Fail(d.BeginAnswer(t.Context(), k, "another", true))(t, "another request", amber.KindConflict)
	must.Kind(t, "finished twice", d.FinishAnswer(t.Context(), k, 500, nil), amber.KindNotFound)
	must.Do(t, d.AbandonAnswer(t.Context(), k))
	must.Equal(t, "answered, after it was abandoned", must.Get(d.BeginAnswer(t.Context(), k, "digest", false))(t).Done, true)
	for _, other := range []wire.AnswerKey{
		{Agent: "bob", Operation: "memory.write", Key: "k"},
		{Tenant: "acme", Operation: "memory.write", Key: "k"},
		{Tenant: "acme", Agent: "bob", Operation: "memory.edit", Key: "k"},
		{Tenant: "acme", Agent: "bob", Operation: "memory.write", Key: "K"},
	} {
		finish(t, d, other, "")
		if a := must.Get(d.BeginAnswer(t.Context(), other, "digest", false))(t); !a.Done || a.Blank || len(a.Body) != 0 {
			t.Errorf("%v: an empty answer is %+v", other, a)
		}
	}
}

func TestAnAbandonedRequestMayComeAgain(t *testing.T) { both(t, testAnAbandonedRequestMayComeAgain) }

func testAnAbandonedRequestMayComeAgain(t *testing.T, p place) {
	d := p.open(t)
	k := keyNamed("k")
	begin(t, d, k)
	must.Do(t, p.open(t).AbandonAnswer(t.Context(), k)) // by another process: nothing
	must.Fail(d.BeginAnswer(t.Context(), k, "digest", false))(t, "it was begun", amber.KindBusy)
	must.Do(t, d.AbandonAnswer(t.Context(), k))
	must.Do(t, d.AbandonAnswer(t.Context(), k))
	must.Kind(t, "finished after all", d.FinishAnswer(t.Context(), k, 200, nil), amber.KindNotFound)
	begin(t, d, k)
}

func TestKeysOfAnswersAreChecked(t *testing.T) { both(t, testKeysOfAnswersAreChecked) }

func testKeysOfAnswersAreChecked(t *testing.T, p place) {
	d := p.open(t)
	for _, k := range []wire.AnswerKey{
		{},
		{Operation: "o"},
		{Key: "k"},
		{Operation: "o", Key: "k\n"},
		{Operation: "o", Key: strings.Repeat("k", 201)},
		{Operation: "o", Key: "\xff"},
		{Tenant: "\x00", Operation: "o", Key: "k"},
	} {
		must.Fail(d.BeginAnswer(t.Context(), k, "", false))(t, fmt.Sprintf("%+.20v", k), amber.KindInvalid)
	}
	must.Fail(d.BeginAnswer(t.Context(), keyNamed("k"), strings.Repeat("d", 201), false))(t, "a long digest", amber.KindInvalid)
}

func TestARequestThatWasCutOff(t *testing.T) { both(t, testARequestThatWasCutOff) }

func testARequestThatWasCutOff(t *testing.T, p place) {
	lines, kill := p.start(t, "answer")
	if !lines.Scan() {
		t.Fatal("the child did nothing")
	}
	d := p.open(t)
	k := keyNamed("cut off")
	_, err := d.BeginAnswer(t.Context(), k, "digest", true)
	must.Kind(t, "while the process lives", err, amber.KindBusy)
	kill()
	for lines.Scan() { // until it is gone
	}
	p.mourn(t)
	_, err = d.BeginAnswer(t.Context(), k, "another", true)
	must.Kind(t, "another request", err, amber.KindConflict)
	_, err = d.BeginAnswer(t.Context(), k, "digest", false)
	must.Kind(t, "not repeatable", err, amber.KindConflict)
	must.Hold(t, err != nil && strings.Contains(err.Error(), "not known"), "it says %v", err)
	must.Equal(t, "answered", must.Get(d.BeginAnswer(t.Context(), k, "digest", true))(t).Done, false)
	must.Fail(p.open(t).BeginAnswer(t.Context(), k, "digest", true))(t, "after it was taken over", amber.KindBusy)
	must.Do(t, d.FinishAnswer(t.Context(), k, 200, []byte("at last")))
	must.Equal(t, "body", string(must.Get(p.open(t).BeginAnswer(t.Context(), k, "digest", false))(t).Body), "at last")
}

// A database that is closed is as gone as a process that ended, and leaves
// nothing behind.
func TestClosingLetsGoOfRequests(t *testing.T) { both(t, testClosingLetsGoOfRequests) }

func testClosingLetsGoOfRequests(t *testing.T, p place) {
	d := p.open(t)
	begin(t, d, keyNamed("k"))
	p.close(t, d)
	other := p.open(t)
	must.Equal(t, "answered", must.Get(other.BeginAnswer(t.Context(), keyNamed("k"), "digest", true))(t).Done, false)
	p.close(t, other)
	if p.server == nil {
		must.Equal(t, "files left behind", len(must.Get(os.ReadDir(p.path()+"-holders"))(t)), 0)
	}
}

// A process that began a request and left without an end has cut it off, though the
// process lives on.
func TestARequestThatWasLeft(t *testing.T) { both(t, testARequestThatWasLeft) }

func testARequestThatWasLeft(t *testing.T, p place) {
	d := p.open(t)
	k := keyNamed("k")
	begin(t, d, k)
	must.Fail(d.BeginAnswer(t.Context(), k, "digest", true))(t, "while it is being answered", amber.KindBusy)
	d.LeaveAnswer(k)
	must.Fail(d.BeginAnswer(t.Context(), k, "digest", false))(t, "what may not be done twice", amber.KindConflict)
	must.Equal(t, "answered", must.Get(d.BeginAnswer(t.Context(), k, "digest", true))(t).Done, false)
	must.Do(t, d.FinishAnswer(t.Context(), k, 200, []byte("{}")))
	d.LeaveAnswer(k)
	must.Equal(t, "answered", must.Get(d.BeginAnswer(t.Context(), k, "digest", false))(t).Done, true)
}

func TestConcurrentRequestsWithOneKeyAreDoneOnce(t *testing.T) {
	both(t, testConcurrentRequestsWithOneKeyAreDoneOnce)
}

func testConcurrentRequestsWithOneKeyAreDoneOnce(t *testing.T, p place) {
	left := p.open(t)
	var done atomic.Int64
	var wg sync.WaitGroup
	for round := range 10 {
		k := keyNamed(fmt.Sprint(round))
		if round%2 == 1 { // a process began it and is gone
			begin(t, left, k)
			p.close(t, left)
			left = p.open(t)
		}
		for range 4 {
			d := p.open(t)
			for range 2 {
				wg.Go(func() {
					a, err := d.BeginAnswer(t.Context(), k, "digest", true)
					if err == nil && !a.Done {
						done.Add(1)
						err = d.FinishAnswer(t.Context(), k, 200, nil)
						d.LeaveAnswer(k)
					}
					if err != nil && amber.KindOf(err) != amber.KindBusy {
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
		if got := done.Load(); got != int64(round+1) {
			t.Fatalf("round %d: done %d times", round, got-int64(round))
		}
	}
}

func TestAnswersAreKeptForSevenDays(t *testing.T) { both(t, testAnswersAreKeptForSevenDays) }

func testAnswersAreKeptForSevenDays(t *testing.T, p place) {
	d := p.open(t)
	for i := range 120 {
		finish(t, d, keyNamed(fmt.Sprint(i)), "body")
	}
	p.clock.Advance(7 * 24 * time.Hour)
	must.Equal(t, "answered after exactly seven days", must.Get(d.BeginAnswer(t.Context(), keyNamed("119"), "digest", false))(t).Done, true)
	p.clock.Advance(time.Millisecond)
	begin(t, d, keyNamed("119")) // not the first to be swept
	rows := func() int { return p.count(t, "answers") }
	if n := rows(); n != 70 {
		t.Errorf("%d rows after one call, want 70: it removes 50 and the one it takes", n)
	}
	finish(t, d, keyNamed("a"), "")
	finish(t, d, keyNamed("b"), "")
	must.Equal(t, "rows", rows(), 3)
}

func TestLargeBodiesAreNotKept(t *testing.T) { both(t, testLargeBodiesAreNotKept) }

func testLargeBodiesAreNotKept(t *testing.T, p place) {
	d := p.open(t)
	for size, blank := range map[int]bool{1: false, 4096: false, 1 << 20: false, 1<<20 + 1: true} {
		k := keyNamed(fmt.Sprint(size))
		finish(t, d, k, strings.Repeat("x", size))
		a := must.Get(d.BeginAnswer(t.Context(), k, "digest", false))(t)
		if a.Blank != blank || !a.Done || a.Status != 201 || !blank && len(a.Body) != size {
			t.Errorf("%d bytes: blank %v, %d bytes", size, a.Blank, len(a.Body))
		}
	}
}

// Nothing of a forgotten body is left in the database or its log, however rows
// have moved about before; the answers of others stay.
func TestForgottenAnswersLeaveNoText(t *testing.T) { both(t, testForgottenAnswersLeaveNoText) }

func testForgottenAnswersLeaveNoText(t *testing.T, p place) {
	d := p.open(t)
	const text = "TOP SECRET SENTENCE"
	other := func(i int) wire.AnswerKey {
		return wire.AnswerKey{Tenant: "acme", Agent: "eve", Operation: "memory.write", Key: fmt.Sprint(i)}
	}
	sizes := []int{1, 40, 300, 900, 3000, 4000, 4100, 9000, 70000}
	for i := range 200 {
		p.clock.Advance(time.Hour)
		finish(t, d, keyNamed(fmt.Sprint(i)), strings.Repeat(text, 1+sizes[i%len(sizes)]/len(text)))
		if i%3 == 0 {
			finish(t, d, other(i), "of somebody else")
		}
		if i%5 == 0 { // rows that come and go
			k := keyNamed(fmt.Sprintf("abandoned-%d-%s", i, strings.Repeat("k", i%150)))
			begin(t, d, k)
			must.Do(t, d.AbandonAnswer(t.Context(), k))
		}
	}
	if !bytes.Contains(p.bytes(t), []byte(text)) {
		t.Fatal("the text never was there")
	}
	begin(t, d, keyNamed("running"))
	must.Do(t, d.ForgetAnswers(t.Context(), "acme", "bob"))
	must.Hold(t, !bytes.Contains(p.bytes(t), []byte(text[:8])), "the text is still there")
	must.Do(t, d.FinishAnswer(t.Context(), keyNamed("running"), 200, []byte(text)))
	for _, key := range []string{"199", "running"} {
		if a := must.Get(d.BeginAnswer(t.Context(), keyNamed(key), "digest", false))(t); !a.Done || !a.Blank || a.Body != nil || a.Status == 0 {
			t.Errorf("%s: %+v", key, a)
		}
	}
	_, err := d.BeginAnswer(t.Context(), keyNamed("199"), "another", false)
	must.Kind(t, "another request with the key of a forgotten answer", err, amber.KindConflict)
	must.Equal(t, "body", string(must.Get(d.BeginAnswer(t.Context(), other(198), "digest", false))(t).Body), "of somebody else")
	must.Do(t, d.Close())
	must.Hold(t, !bytes.Contains(p.bytes(t), []byte(text[:8])), "the text is there after Close")
	must.Do(t, p.open(t).Check(t.Context()))
}

// A reader keeps old pages in the log; then it is not said that they are gone.
func TestForgettingBesideAReaderIsBusy(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.options()
	o.BusyTimeout = time.Millisecond
	d := p.openWith(t, o)
	finish(t, d, keyNamed("k"), "text")
	raw := p.raw(t)
	p.exec(t, raw, `BEGIN`)
	p.exec(t, raw, `SELECT count(*) FROM answers`)
	must.Kind(t, "beside a reader", d.ForgetAnswers(t.Context(), "acme", "bob"), amber.KindBusy)
	p.exec(t, raw, `COMMIT`)
	must.Do(t, d.ForgetAnswers(t.Context(), "acme", "bob"))
}
