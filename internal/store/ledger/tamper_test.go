package ledger_test

import (
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

const dropTriggers = `DROP TRIGGER audit_stays; DROP TRIGGER audit_remains`

// tampered copies a place, changes its database as a person could who may write the file, and
// returns the copy.
func tampered(t *testing.T, from place, queries ...string) place {
	t.Helper()
	p := from.copy(t)
	db := must.Get(sql.Open("sqlite", "file:"+p.path()))(t)
	triggers := []string{}
	rows := must.Get(db.Query(`SELECT sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid`))(t)
	for rows.Next() {
		var text string
		must.Do(t, rows.Scan(&text))
		triggers = append(triggers, text)
	}
	must.Do(t, rows.Err())
	for _, q := range append(append([]string{dropTriggers}, queries...), triggers...) {
		p.exec(t, db, q)
	}
	must.Do(t, db.Close())
	return p
}

// log returns a closed place with five entries, the head noted at the last.
func log(t *testing.T) place {
	t.Helper()
	p, d := opened(t)
	for i := range 5 {
		p.clock.Advance(time.Second)
		record(t, d, fmt.Sprintf("memory %d", i+1))
	}
	must.Do(t, d.Close())
	return p
}

// report verifies a place.
func report(t *testing.T, p place) wire.AuditReport {
	t.Helper()
	return must.Get(p.open(t).VerifyAudit(t.Context()))(t)
}

func TestEveryChangeOfEveryRowIsFound(t *testing.T) {
	t.Parallel()
	p := log(t)
	changes := map[string]string{
		"at": "at + 1", "tenant": "'evil'", "agent": "''", "actor": "'somebody'", "action": "action || '.'", "subject": "'x'",
		"outcome": "'refused'", "request_id": "'q'", "prev": "zeroblob(32)", "hash": "zeroblob(32)",
		"seq": "seq + 100",
		// Moved over a border between two fields.
		"tenant, agent": "('ac', 'mebob')",
		// Nothing that anybody should read into memory.
		"actor ": "replace(hex(zeroblob(200000)), '0', 'a')", "hash ": "zeroblob(200000)", "prev ": "x''",
	}
	rows := []int{1, 3, 5}
	if *full {
		rows = []int{1, 2, 3, 4, 5}
	}
	for _, row := range rows {
		for column, value := range changes {
			if row == 1 && column == "prev" {
				continue // that is what it is
			}
			left := column
			if strings.Contains(column, ",") {
				left = "(" + column + ")"
			}
			r := report(t, tampered(t, p, fmt.Sprintf(`UPDATE audit SET %s = %s WHERE seq = %d`, left, value, row)))
			must.Equal(t, fmt.Sprintf("row %d, column %s passes", row, column), r.OK(), false)
		}
		for what, query := range map[string]string{
			"removed": `DELETE FROM audit WHERE seq = %d`,
			"doubled": `INSERT INTO audit SELECT seq + 5, at, tenant, agent, actor, action, subject, outcome, request_id, prev, hash FROM audit WHERE seq = %d`,
			"swapped": `UPDATE audit SET seq = -1 WHERE seq = %d; UPDATE audit SET seq = seq - 1 WHERE seq = 1 + %[1]d; UPDATE audit SET seq = 1 + %[1]d WHERE seq = -1`,
		} {
			if row == 5 && what == "swapped" {
				continue
			}
			if r := report(t, tampered(t, p, fmt.Sprintf(query, row))); r.OK() {
				t.Errorf("row %d %s: not found", row, what)
			}
		}
	}
	r := report(t, tampered(t, p, `DELETE FROM audit WHERE seq IN (2, 3)`))
	want := []string{"entries 2 to 3 are missing", "entry 4: previous hash does not match the entry before"}
	must.Equal(t, "", r.Damaged, want)
	if r := report(t, p); !r.OK() || r.Entries != 5 {
		t.Errorf("as it was: %+v", r)
	}
}

// rehash makes every hash fit again, as a person could who knows the format.
func rehash(t *testing.T, p place) {
	t.Helper()
	db := must.Get(sql.Open("sqlite", "file:"+p.path()))(t)
	defer db.Close()
	d := p.open(t)
	entries := all(t, d, wire.AuditQuery{})
	must.Do(t, d.Close())
	p.exec(t, db, `DROP TRIGGER audit_stays`)
	prev := zeros
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		e.Prev = prev
		prev = hashOf(e)
		p.exec(t, db, `UPDATE audit SET prev = unhex(?), hash = unhex(?) WHERE seq = ?`, e.Prev, prev, e.Seq)
	}
	p.exec(t, db, `CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT raise(ABORT, 'the audit log is only appended to'); END`)
}

func TestALogThatWasMadeAnewIsFoundByItsHead(t *testing.T) {
	t.Parallel()
	p := log(t)
	for name, query := range map[string]string{
		"changed": `UPDATE audit SET subject = 'x' WHERE seq = 2`,
		"cut":     `DELETE FROM audit WHERE seq > 3`,
		"emptied": `DELETE FROM audit`,
	} {
		q := tampered(t, p, query)
		rehash(t, q)
		before := must.Get(os.ReadFile(q.head()))(t)
		// Going on to write does not cover it up.
		d := q.open(t)
		if name != "emptied" {
			record(t, d, "more", "and more")
		}
		must.Do(t, d.Close())
		if after := must.Get(os.ReadFile(q.head()))(t); string(before) != string(after) {
			t.Errorf("%s: the head became %q", name, after)
		}
		r := report(t, q)
		must.Equal(t, name+" passes", r.OK(), false)
		// Without the head it cannot be found, but that the head is gone can.
		must.Do(t, os.Remove(q.head()))
		r = report(t, q)
		if r.OK() != (name == "emptied") || len(r.NotChecked) != 1 || !strings.Contains(r.NotChecked[0], "the end of the log") {
			t.Errorf("%s, without head: %+v", name, r)
		}
	}
}

func TestHeadsThatCannotBeReadAreReported(t *testing.T) {
	t.Parallel()
	p := log(t)
	good := string(must.Get(os.ReadFile(p.head()))(t))
	for name, c := range map[string]struct {
		text    string
		damaged bool
	}{
		"empty": {"", true}, "cut": {good[:20], true}, "longer": {good + "\n", true}, "huge": {strings.Repeat("a", 1<<20), true},
		"another hash":     {strings.Replace(good, good[len(good)-3:], "zz\n", 1), true},
		"another sequence": {strings.Replace(good, " 5 ", " 4 ", 1), true},
		"a later sequence": {strings.Replace(good, " 5 ", " 6 ", 1), true},
		"newer":            {strings.Replace(good, " 1 ", " 2 ", 1), false},
	} {
		q := p.copy(t)
		must.Do(t, os.WriteFile(q.head(), []byte(c.text), 0o600))
		d := q.open(t)
		r := must.Get(d.VerifyAudit(t.Context()))(t)
		must.Hold(t, r.OK() != c.damaged && len(r.NotChecked) > 0, "%s: %+v", name, r)
		record(t, d, "more")
		must.Do(t, d.Close())
		must.Equal(t, name+": the head", string(must.Get(os.ReadFile(q.head()))(t)), c.text)
	}
}

func TestTheHeadIsNotedNowAndThen(t *testing.T) {
	t.Parallel()
	p, d := opened(t)
	noted := func() string {
		b, err := os.ReadFile(p.head())
		if os.IsNotExist(err) {
			return ""
		}
		must.Do(t, err)
		return strings.Fields(string(b))[2]
	}
	record(t, d, "one", "two")
	must.Equal(t, "noted at once", noted(), "1")
	p.clock.Advance(5 * time.Minute)
	record(t, d, "three")
	must.Equal(t, "noted after five minutes", noted(), "3")
	for i := range 999 {
		record(t, d, fmt.Sprint(i))
	}
	must.Equal(t, "noted after 999 entries", noted(), "3")
	record(t, d, "the thousandth")
	must.Equal(t, "noted after 1000 entries", noted(), "1003")
	record(t, d, "one more")
	r := verified(t, d, 1004)
	must.Equal(t, "noted after a verification", noted(), "1004")
	must.Hold(t, len(r.NotChecked) == 2 && strings.Contains(r.NotChecked[0], "after entry 1003"), "%q", r.NotChecked)
	record(t, d, "the last")
	must.Do(t, d.Close())
	must.Equal(t, "noted after Close", noted(), "1005")
}

// A database without a head file says so.
func TestWithoutAHeadFileTheEndIsNotChecked(t *testing.T) {
	t.Parallel()
	p := log(t)
	o := p.options()
	o.Head = ""
	d := p.openWith(t, o)
	r := verified(t, d, 5)
	must.Hold(t, len(r.NotChecked) == 1 && strings.Contains(r.NotChecked[0], "no head file is kept"), "%q", r.NotChecked)
}

// Pages that cannot be read are damage, not an error.
func TestBrokenPagesAreReported(t *testing.T) {
	t.Parallel()
	p, d := opened(t)
	for i := range 300 {
		record(t, d, fmt.Sprintf("memory %d", i))
	}
	must.Do(t, d.Close())
	b := must.Get(os.ReadFile(p.path()))(t)
	const page = 4096
	found := 0
	for n := 1; n < len(b)/page; n++ {
		if !strings.Contains(string(b[n*page:(n+1)*page]), "memory.write") {
			continue
		}
		found++
		q := p.copy(t)
		broken := append([]byte{}, b...)
		for i := range page {
			broken[n*page+i] ^= 0x5a
		}
		must.Do(t, os.WriteFile(q.path(), broken, 0o600))
		if r := report(t, q); r.OK() {
			t.Errorf("page %d is broken: %+v", n+1, r)
		}
	}
	if found < 5 {
		t.Fatalf("only %d pages hold the log", found)
	}
}

func TestTheLogIsOnlyAppendedTo(t *testing.T) {
	t.Parallel()
	p := log(t)
	db := p.raw(t)
	for _, q := range []string{`UPDATE audit SET actor = 'x'`, `DELETE FROM audit`} {
		if _, err := db.Exec(q); err == nil {
			t.Errorf("%s: no error", q)
		}
	}
}
