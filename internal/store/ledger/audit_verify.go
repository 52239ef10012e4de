package ledger

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

const selectAudit = `SELECT ` + auditColumns + ` FROM audit ORDER BY seq`

// maxDamaged bounds how many findings a report names.
const maxDamaged = 100

// VerifyAudit reads the whole log in one view, recomputes every hash, and
// compares the log with what is known of its end. Where all is well the head file is noted
// anew. Damage is no error. Errors: those of a database that cannot be read.
func (d *DB) VerifyAudit(ctx context.Context) (wire.AuditReport, error) {
	leave, err := d.enter()
	if err != nil {
		return wire.AuditReport{}, err
	}
	defer leave()
	v := verifier{report: wire.AuditReport{Checked: []string{}, NotChecked: []string{}, Damaged: []string{}}}
	if err := d.engine.prepare(&v); err != nil {
		return wire.AuditReport{}, err
	}
	err = d.engine.view(ctx, "verify audit log", "", func(t *tx) error {
		if err := v.read(t); err != nil {
			return err
		}
		return d.engine.inspect(t, &v)
	})
	if amber.KindOf(err) == amber.KindDamaged {
		v.damage("%v", err)
		v.notChecked("the entries after %d: the database cannot be read there", v.last.seq)
	} else if err != nil {
		return wire.AuditReport{}, err
	}
	d.engine.conclude(ctx, &v)
	return v.finish(), nil
}

// verifier walks through the log.
type verifier struct {
	report  wire.AuditReport
	last    record // the one before
	head    mark   // the known end
	known   bool
	met     bool // the entry of the head was there with its hash
	gone    bool // there is no head file, though one is kept
	headWhy string
	more    int // findings beyond maxDamaged
}

func (v *verifier) damage(format string, args ...any) {
	if len(v.report.Damaged) == maxDamaged {
		v.more++
		return
	}
	v.report.Damaged = append(v.report.Damaged, fmt.Sprintf(format, args...))
}

func (v *verifier) checked(what ...string) { v.report.Checked = append(v.report.Checked, what...) }

func (v *verifier) notChecked(format string, args ...any) {
	v.report.NotChecked = append(v.report.NotChecked, fmt.Sprintf(format, args...))
}

// begin reads the head file.
func (v *verifier) begin(path string) (err error) {
	v.head, v.known, err = readHead(path)
	switch kind := amber.KindOf(err); {
	case kind == amber.KindDamaged:
		v.damage("%v", err)
		v.headWhy = "the head file is damaged"
	case kind == amber.KindTooNew:
		v.headWhy = "a newer Amber wrote the head file"
	case err != nil:
		return err
	case path == "":
		v.headWhy = "no head file is kept"
	case !v.known:
		v.headWhy, v.gone = "there is no head file", true
	}
	return nil
}

// read looks at every entry.
func (v *verifier) read(t *tx) error {
	if err := t.each(selectAudit, nil, v.row); err != nil {
		return err
	}
	v.checked("the hash of every entry", "that the entries are numbered without a gap and each has the hash of the one before")
	return nil
}

func (v *verifier) row(s scanner) error {
	r, err := scanRecord(s)
	if err != nil && !errors.Is(err, errNoRecord) {
		return err
	}
	v.report.Entries++
	switch want := v.last.seq + 1; {
	case r.seq < 1:
		v.damage("entry %d: number is not valid, want 1 or more", r.seq)
		return nil
	case r.seq == want+1:
		v.damage("entry %d is missing", want)
	case r.seq > want:
		v.damage("entries %d to %d are missing", want, r.seq-1)
	}
	switch {
	case err != nil:
		v.damage("entry %d: %v", r.seq, err)
	case r.hash != r.sum():
		v.damage("entry %d: hash does not match the fields", r.seq)
	}
	if err == nil && r.prev != v.last.hash {
		v.damage("entry %d: previous hash does not match the entry before", r.seq)
	}
	if v.known && r.seq == v.head.seq {
		v.met = true
		if r.hash != v.head.hash {
			v.damage("entry %d: hash differs from the one in the head file", r.seq)
		}
	}
	if v.report.First.IsZero() {
		v.report.First = amber.UnixMilli(r.at)
	}
	v.report.Last = amber.UnixMilli(r.at)
	v.last = r
	return nil
}

// compare says what the head file tells about the end of the log.
func (v *verifier) compare() {
	if v.gone && v.report.Entries > 0 { // the first entry of every process is noted there
		v.damage("the head file is gone: it was made with the first of the %d entries, and entries may have been cut off after the last of them", v.report.Entries)
	}
	switch {
	case !v.known:
		v.notChecked("the end of the log: %s, so a loss of entries there would not be seen", v.headWhy)
	case !v.met && v.last.seq < v.head.seq:
		v.damage("the log ends at entry %d; the head file says that it reached entry %d", v.last.seq, v.head.seq)
	case !v.met:
		v.damage("entry %d, the end the head file has, is missing", v.head.seq)
	default:
		v.checked(fmt.Sprintf("the log up to entry %d against the head file", v.head.seq))
	}
	if v.known {
		v.notChecked("the entries after entry %d: they follow each other, but a loss of entries at the end would not be seen", v.head.seq)
		v.notChecked("whether somebody with write access to both the database and the head file has replaced the whole log")
	}
}

func (v *verifier) finish() wire.AuditReport {
	if v.more > 0 {
		v.report.Damaged = append(v.report.Damaged, fmt.Sprintf("and %d more", v.more))
	}
	v.report.Head = hex.EncodeToString(v.last.hash[:])
	return v.report
}
