package image

import (
	"fmt"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// raw is a connection beside database/sql, for reading pages. The driver
// copies every value into memory of its own before anybody sees it, which
// takes longer than reading the pages does. One goroutine uses it at a time.
type raw struct {
	tls *libc.TLS
	db  uintptr
}

// rawError is an error of a raw connection.
type rawError struct {
	code int
	text string
}

func (e *rawError) Error() string { return fmt.Sprintf("%s (%d)", e.text, e.code) }

// Code returns SQLite's result code, as the driver's errors do.
func (e *rawError) Code() int { return e.code }

// openRaw opens a database by its URI, which says what may be done with it.
func openRaw(uri string, busyMS int) (*raw, error) {
	name, err := libc.CString(uri)
	if err != nil {
		return nil, err
	}
	r := &raw{tls: libc.NewTLS()}
	defer libc.Xfree(r.tls, name)
	err = r.out(func(p uintptr) error {
		const flags = lib.SQLITE_OPEN_READWRITE | lib.SQLITE_OPEN_FULLMUTEX | lib.SQLITE_OPEN_URI
		code := lib.Xsqlite3_open_v2(r.tls, name, p, flags, 0)
		r.db = libc.AtomicLoadNUintptr(p, 0) // there is one to close also after most errors
		return r.fail(code)
	})
	if err == nil {
		lib.Xsqlite3_extended_result_codes(r.tls, r.db, 1)
		err = r.fail(lib.Xsqlite3_busy_timeout(r.tls, r.db, int32(busyMS)))
	}
	if err != nil {
		_ = r.close() // the first error says what is wrong
		return nil, err
	}
	return r, nil
}

// out calls fn with room for a pointer that SQLite returns.
func (r *raw) out(fn func(p uintptr) error) error {
	const pointer = 8
	p := r.tls.Alloc(pointer)
	defer r.tls.Free(pointer)
	clear(libc.GoBytes(p, pointer))
	return fn(p)
}

// fail makes an error of a result code, nil of success.
func (r *raw) fail(code int32) error {
	if code == lib.SQLITE_OK {
		return nil
	}
	text := libc.GoString(lib.Xsqlite3_errstr(r.tls, code))
	if r.db != 0 {
		if more := libc.GoString(lib.Xsqlite3_errmsg(r.tls, r.db)); more != text {
			text += ": " + more
		}
	}
	return &rawError{code: int(code), text: text}
}

// exec runs a statement and drops its rows.
func (r *raw) exec(query string) error {
	q, err := r.prepare(query)
	if err != nil {
		return err
	}
	for more := true; more && err == nil; {
		more, err = q.step()
	}
	q.close()
	return err
}

// number runs a query of one number.
func (r *raw) number(query string) (n int64, err error) {
	q, err := r.prepare(query)
	if err != nil {
		return 0, err
	}
	defer q.close()
	found, err := q.step()
	if err == nil && !found {
		err = fmt.Errorf("%q has no answer", query)
	}
	if err != nil {
		return 0, err
	}
	return lib.Xsqlite3_column_int64(r.tls, q.stmt, 0), nil
}

func (r *raw) close() error {
	if r.tls == nil {
		return nil
	}
	code := lib.Xsqlite3_close_v2(r.tls, r.db)
	r.db = 0
	err := r.fail(code)
	r.tls.Close()
	r.tls = nil
	return err
}

// rawQuery is a statement that runs.
type rawQuery struct {
	r    *raw
	stmt uintptr
}

func (r *raw) prepare(query string) (*rawQuery, error) {
	text, err := libc.CString(query)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(r.tls, text)
	q := &rawQuery{r: r}
	err = r.out(func(p uintptr) error {
		code := lib.Xsqlite3_prepare_v2(r.tls, r.db, text, -1, p, 0)
		q.stmt = libc.AtomicLoadNUintptr(p, 0)
		return r.fail(code)
	})
	return q, err
}

// step goes to the next row and reports whether there is one.
func (q *rawQuery) step() (bool, error) {
	switch code := lib.Xsqlite3_step(q.r.tls, q.stmt); code {
	case lib.SQLITE_ROW:
		return true, nil
	case lib.SQLITE_DONE:
		return false, nil
	default:
		return false, q.r.fail(code)
	}
}

// bytes returns a column of the row. It is SQLite's memory, valid until the
// next step.
func (q *rawQuery) bytes(column int32) []byte {
	p := lib.Xsqlite3_column_blob(q.r.tls, q.stmt, column)
	n := lib.Xsqlite3_column_bytes(q.r.tls, q.stmt, column)
	if p == 0 {
		return nil
	}
	return libc.GoBytes(p, int(n))
}

// close ends the statement. Its errors were those of the last step.
func (q *rawQuery) close() { lib.Xsqlite3_finalize(q.r.tls, q.stmt) }
