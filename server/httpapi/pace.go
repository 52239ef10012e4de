package httpapi

import (
	"net/http"
	"time"
)

// hurry cuts off a caller that does not take what is written until done is called,
// within d. Deadlines of connections are those of the machine's clock, whatever
// the clock of the API shows: so a timer counts.
func hurry(w http.ResponseWriter, d time.Duration) (done func()) {
	rc := http.NewResponseController(w)
	_ = rc.SetWriteDeadline(time.Time{}) // a recorder of a test has none
	t := time.AfterFunc(d, func() { _ = rc.SetWriteDeadline(time.Unix(1, 0)) })
	return func() { t.Stop() }
}

// unhurried lets a request take its time that has been read whole. The time to
// read it would end its context otherwise, also while it is being answered.
func unhurried(w http.ResponseWriter) { _ = http.NewResponseController(w).SetReadDeadline(time.Time{}) }
