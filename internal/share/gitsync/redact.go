package gitsync

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/tagged"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/wire"
)

// privateRule is the rule that removes what stands between private tags. It
// holds whether or not secrets are redacted.
const privateRule = "private"

// cleaner takes out of records what must not leave.
type cleaner struct {
	r           *redact.Redactor
	privateOnly bool
	counts      map[string]int
	devices     map[string]bool // that were looked at, and whether they may leave
}

// apart returns a cleaner by the same rules that counts for itself.
func (c *cleaner) apart() *cleaner {
	return &cleaner{r: c.r, privateOnly: c.privateOnly, counts: map[string]int{}}
}

// atLeast counts what another cleaner found, as far as it is not counted: both
// may have looked at the same text.
func (c *cleaner) atLeast(counts map[string]int) {
	for rule, n := range counts {
		c.counts[rule] = max(c.counts[rule], n)
	}
}

// find returns what must not leave of s.
func (c *cleaner) find(s string) []redact.Found {
	found := c.r.Find(s)
	if c.privateOnly {
		found = slices.DeleteFunc(found, func(f redact.Found) bool { return f.Rule != privateRule })
	}
	return found
}

// text returns s without secrets and private passages.
func (c *cleaner) text(s string) string {
	found := c.find(s)
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
	var clean string
	if c.privateOnly {
		clean = c.strings(string(doc))
	} else {
		var report redact.Report
		clean, report = c.r.JSON(string(doc), nil)
		for rule, n := range report.Counts {
			c.counts[rule] += n
		}
	}
	if clean == string(doc) {
		return doc
	}
	return distinct(json.RawMessage(clean))
}

// strings cleans every string of a document as it reads, names too.
func (c *cleaner) strings(doc string) string {
	var out strings.Builder
	at := 0
	for i := 0; i < len(doc); i++ {
		if doc[i] != '"' {
			continue
		}
		end := stringEnd(doc, i)
		var text string
		if json.Unmarshal([]byte(doc[i:end]), &text) == nil {
			if clean := c.text(text); clean != text {
				quoted, err := json.Marshal(clean)
				if err != nil {
					panic("gitsync: a string is JSON: " + err.Error())
				}
				out.WriteString(doc[at:i])
				out.Write(quoted)
				at = end
			}
		}
		i = end - 1
	}
	out.WriteString(doc[at:])
	return out.String()
}

// stringEnd returns where the string that begins at at ends.
func stringEnd(doc string, at int) int {
	for i := at + 1; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(doc)
}

// distinct writes a document anew: two names that were secrets have become the same marker, and one of them has to go.
// A text that is no JSON document any more leaves as null.
func distinct(doc json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil {
		doc, err = json.Marshal(v)
	}
	if err != nil {
		return json.RawMessage("null")
	}
	return doc
}

// row returns a row of Engram as it may leave, and false when there is none:
// something that must not leave is in what it is known by.
func (c *cleaner) row(e engram.Entity) (engram.Entity, bool) {
	return e.Redacted(func(row []byte) []byte { return c.json(row) })
}

// verbatim reports whether a row of Engram may leave as it is.
func (c *cleaner) verbatim(row []byte) bool { return bytes.Equal(c.json(row), row) }

// names reports whether names may leave: one with a secret in it cannot be
// changed, for it is what ties records together.
func (c *cleaner) names(all ...string) bool {
	for _, s := range all {
		if len(c.find(s)) > 0 {
			return false
		}
	}
	return true
}

// origins does the same for the devices that made versions; there are few.
func (c *cleaner) origins(all ...amber.Origin) bool {
	for _, o := range all {
		may, known := c.devices[o.Device]
		if !known {
			if c.devices == nil {
				c.devices = map[string]bool{}
			}
			may = c.names(o.Device)
			c.devices[o.Device] = may
		}
		if !may {
			return false
		}
	}
	return true
}

// clean returns the record as it may leave, or why it stays.
func (c *cleaner) clean(r amber.SyncRecord) (out amber.SyncRecord, withheld string) {
	may := c.origins(r.Origin())
	switch {
	case !may:
	case r.Memory != nil && !r.Memory.DeletedAt.IsZero():
		return c.tombstone(r)
	case r.Memory != nil:
		return c.memory(r)
	case r.Session != nil:
		return c.session(r)
	case r.Prompt != nil:
		return c.prompt(r)
	case r.Relation != nil:
		may = c.names(r.Relation.ID, r.Relation.Type)
	case r.Gone != nil:
		may = c.names(r.Gone.ID)
	}
	if !may {
		return r, secretName
	}
	return r, ""
}

// Why a record stays.
const (
	nothingLeft  = "all text of the record is private"
	secretName   = "name of the record contains a secret"
	brokenByRule = "record without its secrets breaks a rule: "
)

// tombstone needs no more than what orders it: the names that its scope does
// not need go before it is kept back for them.
func (c *cleaner) tombstone(r amber.SyncRecord) (amber.SyncRecord, string) {
	m := *r.Memory
	m.UserID = ""
	if m.Scope != amber.ScopeSession && !c.names(string(m.SessionID)) {
		m.SessionID = ""
	}
	if m.Scope != amber.ScopeWorkspace && !c.names(m.WorkspaceID) {
		m.WorkspaceID = ""
	}
	if !c.names(m.ProjectID, m.WorkspaceID, string(m.SessionID)) || !c.origins(m.Saw...) {
		return r, secretName
	}
	return checked(amber.SyncRecord{Memory: &m})
}

func (c *cleaner) memory(r amber.SyncRecord) (amber.SyncRecord, string) {
	m := *r.Memory
	m.UserID = "" // readers of the folder need not know whose agent wrote it
	if !c.identified(m) {
		return r, secretName
	}
	tagged.Change{Text: c.text, Pairs: c.metadata, Documents: c.foreign}.Apply(&m)
	if strings.TrimSpace(m.Content) == redact.Marker(privateRule) {
		return r, nothingLeft
	}
	slices.Sort(m.Tags)
	m.Tags = slices.Compact(m.Tags)
	m.ContentDigest = amber.ContentDigest(m.Content)
	return checked(amber.SyncRecord{Memory: &m})
}

// identified reports whether the names by which a memory is known may leave.
func (c *cleaner) identified(m amber.SyncMemory) bool {
	may := c.origins(m.Saw...)
	m.Saw = nil
	tagged.Change{ID: func(_, name string) { may = may && c.names(name) }}.Apply(&m.Memory)
	return may
}

// metadata is judged as JSON, in which a key such as "password" gives away
// what follows.
func (c *cleaner) metadata(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	doc, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(c.json(doc), &out)
	}
	if err != nil {
		panic("gitsync: redacting strings leaves strings: " + err.Error())
	}
	return out
}

// foreign cleans the fields of other tools, each under its name.
func (c *cleaner) foreign(fields map[string]json.RawMessage) map[string]json.RawMessage {
	if len(fields) == 0 {
		return fields
	}
	out := make(map[string]json.RawMessage, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		out[c.text(name)] = c.json(fields[name])
	}
	return out
}

func (c *cleaner) session(r amber.SyncRecord) (amber.SyncRecord, string) {
	n := *r.Session
	if !c.names(string(n.ID), n.Project, n.Binding, string(n.Parent)) {
		return r, secretName
	}
	n.Name, n.Directory, n.Summary = c.text(n.Name), c.text(n.Directory), c.text(n.Summary)
	n.EndReason = amber.EndReason(c.text(string(n.EndReason)))
	if _, err := amber.CheckSessionName(n.Name); err != nil {
		n.Name = redact.Marker(privateRule)
	}
	return checked(amber.SyncRecord{Session: &n})
}

func (c *cleaner) prompt(r amber.SyncRecord) (amber.SyncRecord, string) {
	p := *r.Prompt
	if !c.names(string(p.ID), string(p.SessionID), p.ProjectID) {
		return r, secretName
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

// refusal returns the error for what a cleaner found and kept back, nil when
// there are no secrets in it.
func refusal(dir string, found map[string]int, withheld []wire.SyncWithheld) error {
	text := ""
	for _, rule := range slices.Sorted(maps.Keys(found)) {
		if rule != privateRule {
			text += fmt.Sprintf("%d %s, ", found[rule], rule)
		}
	}
	names := 0
	for _, w := range withheld {
		if w.Reason == secretName {
			names++
		}
	}
	if names > 0 {
		text += fmt.Sprintf("%d in names, ", names)
	}
	if text == "" {
		return nil
	}
	return amber.Errorf(amber.KindRefused, "export", dir, "the records to export contain secrets: %s", strings.TrimSuffix(text, ", ")).
		WithHint("amber sync export without --refuse-secrets takes the secrets out")
}
