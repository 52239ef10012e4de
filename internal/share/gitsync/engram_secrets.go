package gitsync

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/tagged"
)

// count counts the secrets of a record. Several rows may hold the same record: a secret that is in all of them is one.
func (l *engramLook) count(r amber.SyncRecord) {
	if l.s.o.Intake == nil || isGone(r) {
		return
	}
	c := &cleaner{r: l.s.o.Intake, counts: map[string]int{}}
	c.look(r)
	if len(c.counts) == 0 {
		return
	}
	if known := l.secrets[r.Ref()]; known != nil {
		c.atLeast(known.counts)
	}
	l.secrets[r.Ref()] = c
}

// look counts what is in a record, and changes nothing.
func (c *cleaner) look(r amber.SyncRecord) {
	switch {
	case r.Memory != nil:
		m := *r.Memory
		tagged.Change{Text: c.text, Pairs: c.metadata, ID: func(_, name string) { c.text(name) }}.Apply(&m.Memory)
	case r.Session != nil:
		c.each(r.Session.Name, r.Session.Directory, r.Session.Summary, r.Session.Project)
	case r.Prompt != nil:
		c.each(r.Prompt.Content, r.Prompt.ProjectID)
	}
	if r.Memory != nil {
		row := c.apart() // it holds the same texts again
		row.foreign(r.Memory.Foreign)
		c.atLeast(row.counts)
	}
}

func (c *cleaner) each(all ...string) {
	for _, s := range all {
		c.text(s)
	}
}

// addTo adds what was counted to a sum.
func (c *cleaner) addTo(sum map[string]int) {
	for rule, n := range c.counts {
		sum[rule] += n
	}
}
