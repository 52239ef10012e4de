package hook

import (
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// Entry returns the entry of the crash journal for an event, and whose session it
// belongs to. An event that is too long for an entry is made shorter, what
// matters least first, and the bytes left out are counted. The error is of kind
// invalid: the event names no session, or none that [Read] could have made.
func Entry(ev journal.HostEvent) (journal.Session, journal.Entry, error) {
	s := journal.Session{Host: ev.Host, ID: ev.SessionID}
	if err := s.Check(); err != nil {
		return s, journal.Entry{}, err
	}
	b, err := fit(ev)
	if err != nil {
		return s, journal.Entry{}, err
	}
	return s, journal.Entry{Payload: b, Droppable: isDroppable(ev.Kind), About: string(ev.Kind)}, nil
}

// isDroppable reports whether an event of the kind may go when space runs out.
func isDroppable(k journal.EventKind) bool {
	return k == journal.HostToolBefore || k == journal.HostToolAfter || k == journal.HostOther
}

// fit marshals an event, shortened as often as is needed.
func fit(ev journal.HostEvent) ([]byte, error) {
	if ev.Tool != nil {
		t := *ev.Tool // not to change the caller's
		ev.Tool = &t
	}
	b, err := strictjson.Line(ev)
	for _, shorten := range shortenings {
		if err != nil || len(b) <= journal.MaxPayload {
			break
		}
		ev.Truncated += shorten(&ev)
		b, err = strictjson.Line(ev)
	}
	if err != nil {
		return nil, &amber.Error{Op: "marshal event", Kind: amber.KindInvalid, Err: err}
	}
	if len(b) > journal.MaxPayload {
		return nil, amber.Errorf(amber.KindInvalid, "marshal event", "",
			"event has %d bytes, want at most %d", len(b), journal.MaxPayload)
	}
	return b, nil
}

// shortenings leave out parts of an event and return how many bytes. Behind the
// last one an event that Read has made fits.
var shortenings = []func(*journal.HostEvent) int64{
	func(ev *journal.HostEvent) int64 { return shortenJSON(&ev.Raw, 1<<10) },
	func(ev *journal.HostEvent) int64 { return shortenJSON(&ev.Raw, 0) },
	func(ev *journal.HostEvent) int64 { return shortenOutput(ev, 4<<10) },
	func(ev *journal.HostEvent) int64 { return shortenInput(ev, 1<<10) },
	func(ev *journal.HostEvent) int64 { return shortenInput(ev, 0) },
	func(ev *journal.HostEvent) int64 { return shortenTexts(ev, 32<<10) + shortenLists(ev, 20) },
	func(ev *journal.HostEvent) int64 {
		return shortenTexts(ev, 8<<10) + shortenOutput(ev, 0) + shortenLists(ev, 0)
	},
}

func shortenOutput(ev *journal.HostEvent, limit int) (lost int64) {
	if ev.Tool != nil {
		ev.Tool.Output, lost = cutMiddle(ev.Tool.Output, limit)
	}
	return lost
}

func shortenInput(ev *journal.HostEvent, limit int) int64 {
	if ev.Tool == nil {
		return 0
	}
	return shortenJSON(&ev.Tool.Input, limit)
}

// shortenJSON cuts the strings in a value; with limit 0 all of it goes.
func shortenJSON(b *json.RawMessage, limit int) int64 {
	before := len(*b)
	v, _, ok := scanText(string(*b))
	*b = nil
	if ok && limit > 0 {
		*b = shorten(v, limit).appendJSON(nil)
	}
	return int64(max(0, before-len(*b)))
}

func shortenTexts(ev *journal.HostEvent, limit int) (lost int64) {
	texts := []*string{&ev.Prompt, &ev.Answer, &ev.Message}
	if ev.Tool != nil {
		texts = append(texts, &ev.Tool.Command)
	}
	for _, t := range texts {
		short := clip.AtWord(*t, limit)
		lost += int64(len(*t) - len(short))
		*t = short
	}
	return lost
}

func shortenLists(ev *journal.HostEvent, limit int) (lost int64) {
	for _, f := range ev.Files[min(limit, len(ev.Files)):] {
		lost += int64(len(f.Path))
	}
	for _, t := range ev.Tasks[min(limit, len(ev.Tasks)):] {
		lost += int64(len(t.Text))
	}
	for _, r := range ev.Roots[min(limit, len(ev.Roots)):] {
		lost += int64(len(r))
	}
	ev.Files = ev.Files[:min(limit, len(ev.Files))]
	ev.Tasks = ev.Tasks[:min(limit, len(ev.Tasks))]
	ev.Roots = ev.Roots[:min(limit, len(ev.Roots))]
	return lost
}
