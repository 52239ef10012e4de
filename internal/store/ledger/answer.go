package ledger

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/wire"
)

// Bounds of answers.
const (
	answersAge   = 7 * 24 * time.Hour // then a key counts as new
	answersSwept = 50                 // how many are removed by one call
	maxBody      = 1 << 20            // a larger body is not kept
	maxDigest    = 200
)

// bodyPad is how many zeros lie before a body. SQLite keeps the beginning of a
// long value on a page of the table, and leaves copies behind when it moves
// rows between pages. The rest lies on pages of its own, which never move and
// are overwritten when they are freed. With at least a page of zeros before it
// all of a body lies there.
const bodyPad = 4096

const (
	selectAnswer = `SELECT ordinal, digest, holder, begun_at, done, status, blank, body FROM answers
WHERE tenant = ? AND agent = ? AND operation = ? AND key = ?`
	insertAnswer = `INSERT INTO answers (tenant, agent, operation, key, digest, holder, begun_at, done, status, blank, body)
VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?)`
	takeAnswer = `UPDATE answers SET holder = ?2, begun_at = ?3, blank = 0 WHERE ordinal = ?1`
	// Answers may be forgotten at the same time.
	finishAnswer = `UPDATE answers SET done = 1, status = ?2, blank = CASE blank WHEN 0 THEN ?3 ELSE 1 END, body = CASE blank WHEN 0 THEN ?4 ELSE body END WHERE ordinal = ?1`
	deleteAnswer = `DELETE FROM answers WHERE ordinal = ?`
	sweepAnswers = `DELETE FROM answers WHERE ordinal IN (SELECT ordinal FROM answers WHERE begun_at < ? ORDER BY begun_at LIMIT ?`
	blankAnswers = `UPDATE answers SET blank = 1, body = ?3 WHERE tenant = ?1 AND agent = ?2 AND blank = 0`
)

type answerRow struct {
	ordinal, begun, status int64
	digest, holder         string
	done, blank            bool
	body                   []byte
}

// answer returns the row of a key. Errors: sql.ErrNoRows.
func (t *tx) answer(k wire.AnswerKey) (r answerRow, err error) {
	err = t.row(selectAnswer, k.Tenant, k.Agent, k.Operation, k.Key).
		Scan(&r.ordinal, &r.digest, &r.holder, &r.begun, &r.done, &r.status, &r.blank, &r.body)
	return r, err
}

func checkKey(k wire.AnswerKey) error {
	for _, f := range []struct {
		what, value string
		optional    bool
	}{{"tenant id", k.Tenant, true}, {"agent id", k.Agent, true}, {"operation", k.Operation, false}, {"idempotency key", k.Key, false}} {
		if f.optional && f.value == "" {
			continue
		}
		if err := amber.CheckID(f.what, f.value); err != nil {
			return err
		}
	}
	return intake.CheckNames("idempotency key", k.Key)
}

// BeginAnswer looks whether a request was answered before; digest distinguishes requests with the
// same key. If the answer that it returns is not done, the caller has to answer the request, and to
// end it with FinishAnswer or AbandonAnswer, and with LeaveAnswer in any case. A repeatable request
// that was cut off goes to the caller. Keys are good for seven days. Errors: invalid; conflict when
// the key was used for another request, or for one that was cut off and is not repeatable; busy
// while another caller is answering it.
func (d *DB) BeginAnswer(ctx context.Context, k wire.AnswerKey, digest string, repeatable bool) (a wire.Answer, err error) {
	const op = "begin answer"
	leave, err := d.enter()
	if err != nil {
		return wire.Answer{}, err
	}
	defer leave()
	if err := checkKey(k); err != nil {
		return wire.Answer{}, err
	}
	if len(digest) > maxDigest {
		return wire.Answer{}, amber.Errorf(amber.KindInvalid, op, "", "the digest is too long")
	}
	me, err := d.engine.show(ctx)
	if err != nil {
		return wire.Answer{}, err
	}
	mine, begun := false, false // the caller answers the request
	err = d.engine.update(ctx, op, "", lockOf(k), func(t *tx) error {
		oldest := t.now.Add(-answersAge).UnixMilli()
		r, err := t.answer(k)
		if err == nil && r.begun < oldest { // its turn to be swept had not come
			if _, err := t.exec(deleteAnswer, r.ordinal); err != nil {
				return err
			}
			err = sql.ErrNoRows
		}
		switch {
		case errors.Is(err, sql.ErrNoRows):
			_, err = t.exec(insertAnswer, k.Tenant, k.Agent, k.Operation, k.Key, digest, me, t.now.UnixMilli(), []byte{})
			mine = true
		case err != nil:
			return err
		case r.digest != digest:
			return &amber.Error{Op: op, Kind: amber.KindConflict, Err: wire.ErrKeyUsed}
		case r.done:
			a, err = r.answer()
		default:
			err = d.takeOver(t, k, r, me, repeatable)
			mine = true
		}
		if err != nil {
			return err
		}
		if mine {
			d.answering.begin(k) // inside of the transaction: the next caller comes after it
			begun = true
		}
		// The sweep is the last statement: it skips locked rows, so it waits for no other transaction.
		_, err = t.exec(sweepAnswers+t.skip+`)`, oldest, answersSwept)
		return err
	})
	if err != nil {
		switch {
		case !begun:
		case errors.Is(err, amber.ErrUnknownOutcome):
			d.LeaveAnswer(k) // it may be there
		default:
			d.answering.leave(k)
		}
		return wire.Answer{}, err
	}
	return a, nil
}

// LeaveAnswer says that the caller of BeginAnswer does nothing more about a request. A request that
// was neither finished nor abandoned counts as cut off, as when the process ends.
func (d *DB) LeaveAnswer(k wire.AnswerKey) {
	if cutOff := d.answering.leave(k); cutOff && d.engine.shared() {
		d.answering.tell(d, k)
	}
}

// answer returns what was answered. The error is of kind damaged.
func (r answerRow) answer() (wire.Answer, error) {
	a := wire.Answer{Done: true, Status: int(r.status), Blank: r.blank}
	if r.blank {
		return a, nil
	}
	if len(r.body) < bodyPad {
		return wire.Answer{}, damaged("begin answer", "", "the answer that was kept is too short")
	}
	a.Body = r.body[bodyPad:]
	return a, nil
}

// takeOver gives a request to the caller that was cut off.
func (d *DB) takeOver(t *tx, k wire.AnswerKey, r answerRow, me string, repeatable bool) error {
	const op = "begin answer"
	gone := !d.answering.here(k)
	if r.holder != me {
		var err error
		if gone, err = d.engine.gone(t, r.holder); err != nil {
			return err
		}
	}
	switch {
	case !gone:
		return amber.Errorf(amber.KindBusy, op, "", "the request is being answered")
	case !repeatable:
		return amber.Errorf(amber.KindConflict, op, "", "the request was cut off; whether it was done is not known").
			WithHint("check whether the change was made; if not, send the request again with another Idempotency-Key")
	}
	_, err := t.exec(takeAnswer, r.ordinal, me, t.now.UnixMilli())
	return err
}

// FinishAnswer keeps the answer to a request that was begun here. A body of more
// than 1 MiB is not kept, nor one of an agent whose answers were forgotten since
// it was begun: the answer is blank then. Errors: not_found for a request that
// was not begun here, or is done, or was taken over by another process that held
// this one for gone.
func (d *DB) FinishAnswer(ctx context.Context, k wire.AnswerKey, status int, body []byte) error {
	const op = "finish answer"
	return d.endAnswer(ctx, op, k, func(t *tx) error {
		r, err := t.answer(k)
		if errors.Is(err, sql.ErrNoRows) || err == nil && (r.done || r.holder != d.engine.holder()) {
			return amber.Errorf(amber.KindNotFound, op, "", "the request was not begun here, or has an answer, or another process answers it by now")
		}
		if err != nil {
			return err
		}
		stored := []byte{}
		blank := r.blank || len(body) > maxBody
		if !blank {
			stored = append(make([]byte, bodyPad, bodyPad+len(body)), body...)
		}
		_, err = t.exec(finishAnswer, r.ordinal, status, blank, stored)
		return err
	})
}

// endAnswer gives a request its end.
func (d *DB) endAnswer(ctx context.Context, op string, k wire.AnswerKey, fn func(*tx) error) error {
	ended := false
	err := d.update(ctx, op, "", lockOf(k), func(t *tx) error {
		err := fn(t)
		if err == nil {
			d.answering.end(k) // inside of the transaction: the next caller comes after it
			ended = true
		}
		return err
	})
	if err != nil && ended {
		d.answering.undo(k)
	}
	return err
}

// AbandonAnswer forgets a request that was begun here and is not done, so that it may come again. A
// request that is not there is no error.
func (d *DB) AbandonAnswer(ctx context.Context, k wire.AnswerKey) error {
	return d.endAnswer(ctx, "abandon answer", k, func(t *tx) error {
		r, err := t.answer(k)
		if errors.Is(err, sql.ErrNoRows) || err == nil && (r.done || r.holder != d.engine.holder()) {
			return nil
		}
		if err == nil {
			_, err = t.exec(deleteAnswer, r.ordinal)
		}
		return err
	})
}

// ForgetAnswers removes the bodies of every answer of an agent from the
// database and its log, because something was erased that they may hold.
// Answers that are still to come stay blank. Keys, digests and statuses stay.
// PostgreSQL keeps old rows until it vacuums, and its log. Errors: busy when a reader kept the log from being cut: the bodies are blank
// then, but old pages may hold them until it is called again.
func (d *DB) ForgetAnswers(ctx context.Context, tenant, agent string) error {
	const op = "forget answers"
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	err = d.engine.update(ctx, op, "", lockForget, func(t *tx) error {
		_, err := t.exec(blankAnswers, tenant, agent, []byte{})
		return err
	})
	if err != nil {
		return err
	}
	return d.engine.forgotten(ctx, op)
}
