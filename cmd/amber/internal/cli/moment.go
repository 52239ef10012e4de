package cli

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/timetable"
)

// TimeForms says, in the help of a flag, which times it takes.
const TimeForms = "2026-11-01, RFC 3339, or 24h, 7d"

// Past reads a flag that takes a time, or how long ago it was. An empty one is
// the zero time.
func (a *App) Past(flag, text string) (amber.Time, error) { return a.moment(flag, text, true) }

// Future reads a flag that takes a time, or how long it is until then. An empty
// one is the zero time.
func (a *App) Future(flag, text string) (amber.Time, error) { return a.moment(flag, text, false) }

func (a *App) moment(flag, text string, back bool) (amber.Time, error) {
	if text == "" {
		return amber.Time{}, nil
	}
	t, err := timetable.When(text, a.Clock(), back)
	if err != nil {
		return amber.Time{}, Usage("--%s is %q, %v", flag, OneLine(text, 40), err)
	}
	return amber.At(t), nil
}

// Age reads a flag that takes how old something is, or since when it is.
func (a *App) Age(flag, text string) (time.Duration, error) {
	now := a.Clock()
	t, err := timetable.When(text, now, true)
	switch {
	case err != nil:
		return 0, Usage("--%s is %q, %v", flag, OneLine(text, 40), err)
	case t.After(now):
		return 0, Usage("--%s is %q, which is in the future", flag, OneLine(text, 40))
	}
	return now.Sub(t), nil
}

// span is the value of a flag that takes how long something may take.
type span time.Duration

func (s *span) Set(text string) error {
	d, err := timetable.Span(text)
	if err == nil {
		*s = span(d)
	}
	return err
}

func (s *span) Type() string { return "duration" }
func (s *span) String() string {
	if *s == 0 {
		return "0" // which help does not print
	}
	return time.Duration(*s).String()
}

// SpanVar adds a flag that takes a span.
func SpanVar(f *pflag.FlagSet, d *time.Duration, name string, usual time.Duration, help string) {
	*d = usual
	f.Var((*span)(d), name, help)
}
