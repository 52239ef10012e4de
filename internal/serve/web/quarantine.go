package web

import (
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// quarantineScreens are the entries that the crash journal has set aside.
type quarantineScreens struct{ *visit }

func quarantineRoutes(p *Page) {
	p.get("/quarantine", on(quarantineScreens.quarantine))
	p.get("/quarantine/{session}/{name}", on(quarantineScreens.held))
	p.post("/quarantine/retry", on(quarantineScreens.retryHeld))
}

// quarantineData is what the screen of everything that was set aside shows.
type quarantineData struct {
	Entries   int // of the journal
	Sessions  []heldSession
	Next      int
	NoJournal bool

	Chunks     []amber.QuarantinedChunk
	AllChunks  int
	NextChunks int
	Again      int // entries that were put back just now; -1: nothing was asked
}

// heldSession is what the journal has set aside of one session.
type heldSession struct {
	Key, Host string
	Session   amber.SessionID
	Entries   []wire.HeldEntry
}

func (v quarantineScreens) quarantine() error {
	d := quarantineData{Again: -1}
	if n, err := strconv.Atoi(v.query("again")); err == nil && n >= 0 {
		d.Again = n
	}
	held, err := v.remote.HeldEntries(v.r.Context(), "")
	d.NoJournal = amber.KindOf(err) == amber.KindUnsupported
	if err != nil && !d.NoJournal {
		return err
	}
	d.Entries = len(held)
	held, d.Next = part(held, v.query("from"))
	d.Sessions = bySession(held)
	report, err := conflictScreens(v).syncReport()
	if err != nil {
		return err
	}
	d.AllChunks = len(report.Quarantined)
	d.Chunks, d.NextChunks = part(report.Quarantined, v.query("chunks"))
	return v.render("quarantine", screen{Title: "Quarantine", Nav: "quarantine", Command: v.command("journal", "quarantine")}, d)
}

// bySession groups entries, which come session by session.
func bySession(held []wire.HeldEntry) (out []heldSession) {
	for _, h := range held {
		if last := len(out) - 1; last < 0 || out[last].Key != h.Key {
			out = append(out, heldSession{Key: h.Key, Host: h.Host, Session: h.SessionID})
		}
		s := &out[len(out)-1]
		s.Entries = append(s.Entries, h)
	}
	return out
}

// heldData is what the screen of one entry shows.
type heldData struct {
	wire.HeldEntry
	Text long
}

func (v quarantineScreens) held() error {
	session, name := v.r.PathValue("session"), v.r.PathValue("name")
	held, err := v.remote.ShowHeld(v.r.Context(), session, name)
	if err != nil {
		return err
	}
	d := heldData{held, fitted(string(held.Payload), shownWhole)}
	d.Payload = nil
	return v.render("held", screen{Title: "An entry that was set aside", Nav: "quarantine", Command: v.command("journal", "quarantine", "--session", session, "--show", name)}, d)
}

// retryHeld puts entries back into the journal: one, those of a session, or all.
func (v quarantineScreens) retryHeld() error {
	again, err := v.remote.RetryHeld(v.r.Context(), wire.HeldRetry{Session: v.field("session"), Name: v.field("name")})
	if err != nil {
		return err
	}
	return v.redirect(v.path("quarantine") + "?again=" + strconv.Itoa(len(again)))
}
