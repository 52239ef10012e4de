package audited_test

import (
	"context"
	"errors"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/internal/test/must"
)

// step is a transaction of a job.
type step struct {
	about, found []string
	id           string
	fails        bool
}

func TestWhichEntriesAJobHas(t *testing.T) {
	one := func(found ...string) step { return step{found: found, id: "asked"} }
	for name, c := range map[string]struct {
		subject string
		steps   []step
		want    []string
	}{
		"nothing changed":                  {"", nil, nil},
		"what the store was asked for":     {"", []step{{id: "asked"}}, []string{"asked"}},
		"what the request names":           {"named", []step{{id: "asked"}}, []string{"named"}},
		"what was found":                   {"named", []step{one("a", "b")}, []string{"a", "b"}},
		"several transactions":             {"named", []step{{id: "x"}, {id: "y"}, one("z")}, []string{"named"}},
		"several things":                   {"", []step{one("a"), one("b"), one("a")}, []string{"a", "b"}},
		"things that nobody tells":         {"", []step{{id: "x"}, {id: "y"}}, []string{"x"}},
		"things that are named":            {"named", []step{{about: []string{"a"}, id: "x"}, {about: []string{"b", "a"}, id: "x"}}, []string{"a", "b"}},
		"one that is named for many":       {"", []step{{about: []string{"import"}, found: []string{"a"}}, {about: []string{"import"}, found: []string{"b"}}}, []string{"import"}},
		"a failure":                        {"named", []step{{id: "x", fails: true}}, nil},
		"a failure, and the same again":    {"named", []step{{id: "x", fails: true}, {id: "x"}}, []string{"named"}},
		"a failure behind what was stored": {"", []step{one("a"), {found: []string{"b"}, fails: true}}, []string{"a"}},
	} {
		var stored []string
		var waiting []string
		job := audited.NewJob(c.subject, func(_ context.Context, _ audited.Conn, _ amber.Time, subject string) error {
			waiting = append(waiting, subject)
			return nil
		})
		run := func(s step) {
			ctx := audited.With(t.Context(), job)
			if s.about != nil {
				ctx = audited.About(ctx, s.about...)
			}
			waiting = nil
			tx := audited.Begin(ctx)
			must.NoError(t, tx.Enter(ctx, nil, amber.Time{}, s.found, s.id))
			if s.fails {
				tx.Done(errors.New("undone"))
				return
			}
			stored = append(stored, waiting...)
			tx.Done(nil)
		}
		for _, s := range c.steps {
			run(s)
		}
		must.Equal(t, name, stored, c.want)
		must.Equal(t, name+": told", job.End(), c.want)
		run(step{about: []string{"late"}})
		must.Equal(t, name+": after the end", stored, c.want)
	}
}

func TestAnEntryThatCannotBeWritten(t *testing.T) {
	full := errors.New("full")
	job := audited.NewJob("", func(context.Context, audited.Conn, amber.Time, string) error { return full })
	tx := audited.Begin(audited.With(t.Context(), job))
	must.Is(t, "the change fails, too", tx.Enter(t.Context(), nil, amber.Time{}, nil, "x"), full)
	tx.Done(full)
	must.Equal(t, "entries", job.End(), []string(nil))
	must.Equal(t, "a context of no job", audited.Begin(t.Context()), (*audited.Transaction)(nil))
	must.Equal(t, "entries of no job", (*audited.Job)(nil).End(), []string(nil))
}

// Subjects from About for a job do not apply to another job that runs inside it.
func TestAJobInsideAnother(t *testing.T) {
	var got []string
	write := func(_ context.Context, _ audited.Conn, _ amber.Time, subject string) error {
		got = append(got, subject)
		return nil
	}
	ctx := audited.About(audited.With(t.Context(), audited.NewJob("outer", write)), "about")
	ctx = audited.With(ctx, audited.NewJob("inner", write))
	must.NoError(t, audited.Begin(ctx).Enter(ctx, nil, amber.Time{}, nil, ""))
	must.Equal(t, "entries", got, []string{"inner"})
}
