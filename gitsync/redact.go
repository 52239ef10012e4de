package gitsync

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/redact"
)

// privateRule is the rule that removes what stands between private tags. It
// holds whether or not secrets are redacted.
const privateRule = "private"

// cleaner takes out of records what must not leave.
type cleaner struct {
	r           *redact.Redactor
	privateOnly bool
	counts      map[string]int
}

// text returns s without secrets and private passages.
func (c *cleaner) text(s string) string {
	found := c.r.Find(s)
	if c.privateOnly {
		found = slices.DeleteFunc(found, func(f redact.Found) bool { return f.Rule != privateRule })
	}
	if len(found) == 0 {
		return s
	}
	for _, f := range found {
		c.counts[f.Rule]++
	}
	return redact.Replace(s, found)
}

// json does the same for a document, which stays one.
func (c *cleaner) json(doc json.RawMessage) json.RawMessage {
	if c.privateOnly {
		return doc // the fields of other tools hold no prose
	}
	text, report := c.r.JSON(string(doc), nil)
	for rule, n := range report.Counts {
		c.counts[rule] += n
	}
	return json.RawMessage(text)
}

// name reports whether a name may leave: one with a secret in it cannot be
// changed, for it is what ties records together.
func (c *cleaner) name(s string) bool { return len(c.r.Find(s)) == 0 }

// clean returns the record as it may leave, or why it stays.
func (c *cleaner) clean(r amber.SyncRecord) (out amber.SyncRecord, withheld string) {
	switch {
	case r.Memory != nil:
		return c.memory(r)
	case r.Session != nil:
		return c.session(r)
	case r.Prompt != nil:
		return c.prompt(r)
	}
	return r, ""
}

// nothingLeft is why a record stays that would be a marker and nothing else.
const (
	nothingLeft  = "all of its text is private"
	secretName   = "a secret is part of its name"
	brokenByRule = "without its secrets it breaks a rule: "
)

func (c *cleaner) memory(r amber.SyncRecord) (amber.SyncRecord, string) {
	m := *r.Memory
	if !m.DeletedAt.IsZero() {
		return r, ""
	}
	for _, name := range []string{m.Topic, m.ProjectID, m.WorkspaceID, string(m.SessionID)} {
		if !c.name(name) {
			return r, secretName
		}
	}
	m.UserID = "" // whose agent wrote it is nobody's business
	m.Title, m.Content, m.Summary = c.text(m.Title), c.text(m.Content), c.text(m.Summary)
	if strings.TrimSpace(m.Content) == redact.Marker(privateRule) {
		return r, nothingLeft
	}
	m.Tags = c.tags(m.Tags)
	m.Metadata = c.metadata(m.Metadata)
	m.SourceRefs = slices.Clone(m.SourceRefs)
	for i := range m.SourceRefs {
		m.SourceRefs[i].Value = c.text(m.SourceRefs[i].Value)
	}
	m.Foreign = maps.Clone(m.Foreign)
	for name, doc := range m.Foreign {
		m.Foreign[name] = c.json(doc)
	}
	m.ContentDigest = amber.ContentDigest(m.Content)
	return checked(amber.SyncRecord{Memory: &m})
}

func (c *cleaner) tags(tags []string) []string {
	out := make([]string, 0, len(tags))
	for _, t := range tags {
		out = append(out, c.text(t))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// metadata is judged as JSON, in which a key such as "password" gives away
// what follows.
func (c *cleaner) metadata(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	if c.privateOnly {
		for k, v := range m {
			out[k] = c.text(v)
		}
		return out
	}
	doc, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(c.json(doc), &out)
	}
	if err != nil {
		panic("gitsync: redacting JSON leaves JSON: " + err.Error())
	}
	return out
}

func (c *cleaner) session(r amber.SyncRecord) (amber.SyncRecord, string) {
	n := *r.Session
	for _, name := range []string{string(n.ID), n.Project, n.Binding, string(n.Parent)} {
		if !c.name(name) {
			return r, secretName
		}
	}
	n.Name, n.Directory, n.Summary = c.text(n.Name), c.text(n.Directory), c.text(n.Summary)
	if _, err := amber.CheckSessionName(n.Name); err != nil {
		n.Name = redact.Marker(privateRule)
	}
	return checked(amber.SyncRecord{Session: &n})
}

func (c *cleaner) prompt(r amber.SyncRecord) (amber.SyncRecord, string) {
	p := *r.Prompt
	for _, name := range []string{string(p.ID), string(p.SessionID), p.ProjectID} {
		if !c.name(name) {
			return r, secretName
		}
	}
	p.Content = c.text(p.Content)
	if strings.TrimSpace(p.Content) == redact.Marker(privateRule) {
		return r, nothingLeft
	}
	return checked(amber.SyncRecord{Prompt: &p})
}

// checked makes sure that markers did not break a rule, such as the length of
// a title.
func checked(r amber.SyncRecord) (amber.SyncRecord, string) {
	if err := r.Check(); err != nil {
		return r, brokenByRule + err.Error()
	}
	return r, ""
}
