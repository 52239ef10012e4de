package gemini

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// scan goes over the records of a chat.
func (l *log) scan(ctx context.Context, v visitor) error {
	if l.file.Is(".json") {
		return l.scanDocument(v)
	}
	return l.file.EachLine(ctx, l.skip, func(n int64, b []byte) error {
		o, err := foreign.ParseObject(b)
		if err != nil {
			l.skip(l.file.Line(n), "line %v", err)
			return nil
		}
		return record(v, place{line: n}, o)
	})
}

// record visits one line. A line that is of no known kind is passed over.
func record(v visitor, at place, o foreign.Object) error {
	_, rewinds := o["$rewindTo"]
	_, sets := o["$set"]
	switch {
	case rewinds:
		v.rewind(o.Text("$rewindTo"))
	case sets:
		return v.set(at, o.Sub("$set"))
	case o.Text("id") != "" && o.Text("type") != "":
		return v.message(at, o)
	case o.Text("sessionId") != "":
		return v.set(at, o)
	}
	return nil
}

// scanDocument reads the older form: one object with a list of messages.
func (l *log) scanDocument(v visitor) error {
	return foreign.ReadDocument(l.file, l.skip, foreign.Document{
		Element: func(list string, n int64, raw []byte) error {
			o, err := foreign.ParseObject(raw)
			if list != "messages" || err != nil {
				return l.oddElement(list, n, err)
			}
			if o.Text("id") == "" {
				o["id"] = fmt.Sprintf("%s message %d", l.file.Stem(), n)
			}
			return v.message(place{index: int(n)}, o)
		},
		Member: func(name string, raw []byte) error {
			value, err := foreign.ParseValue(raw)
			if err != nil {
				return nil
			}
			return v.set(place{}, foreign.Object{name: value}.Without("messages"))
		},
	})
}

func (l *log) oddElement(list string, n int64, err error) error {
	if list == "messages" {
		l.skip(l.file.Place(fmt.Sprintf("message %d", n)), "message %v", err)
	}
	return nil
}
