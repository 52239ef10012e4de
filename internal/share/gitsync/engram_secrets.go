package gitsync

import "github.com/amber-memory/amber"

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
	var texts []string
	switch {
	case r.Memory != nil:
		m := r.Memory
		texts = append(texts, m.Title, m.Content, m.Summary, m.Topic, m.ProjectID)
		texts = append(texts, m.Tags...)
		for _, ref := range m.SourceRefs {
			texts = append(texts, ref.Value)
		}
		c.metadata(m.Metadata)
	case r.Session != nil:
		texts = append(texts, r.Session.Name, r.Session.Directory, r.Session.Summary, r.Session.Project)
	case r.Prompt != nil:
		texts = append(texts, r.Prompt.Content, r.Prompt.ProjectID)
	}
	for _, s := range texts {
		c.text(s)
	}
	if r.Memory != nil {
		row := c.apart() // it holds the same texts again
		row.foreign(r.Memory.Foreign)
		c.atLeast(row.counts)
	}
}

// addTo adds what was counted to a sum.
func (c *cleaner) addTo(sum map[string]int) {
	for rule, n := range c.counts {
		sum[rule] += n
	}
}
