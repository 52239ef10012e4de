package hook

import (
	"strings"

	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/guard/redact"
)

// cleaner removes secrets from everything that is kept, and counts.
type cleaner struct {
	redactor *redact.Redactor
	report   redact.Report
	lost     int64 // bytes left out
}

func newCleaner(r *redact.Redactor) *cleaner {
	if r == nil {
		r = redact.New()
	}
	return &cleaner{redactor: r}
}

// text returns s, which is UTF-8 afterwards, without secrets.
func (c *cleaner) text(s string) string {
	return c.behind("", s)
}

// behind returns s without secrets that it holds when it stands behind before,
// which may name it.
func (c *cleaner) behind(before, s string) string {
	if s == "" {
		return s
	}
	out, report := c.redactor.String(before + strings.ToValidUTF8(s, "\uFFFD"))
	rest, ok := strings.CutPrefix(out, before)
	if !ok { // the name is a secret, and says nothing about the value
		return c.behind("", s)
	}
	c.report.Add(report)
	return rest
}

// quietly is text for what was counted already.
func (c *cleaner) quietly(s string) string {
	out, _ := c.redactor.String(strings.ToValidUTF8(s, "\uFFFD"))
	return out
}

// isSecret reports whether s holds a secret.
func (c *cleaner) isSecret(s string) bool { return c.quietly(s) != s }

// value returns v without secrets and with long strings cut.
func (c *cleaner) value(v value) value { return c.member("", v) }

// member is value for what a key names.
func (c *cleaner) member(key string, v value) value {
	switch v.kind {
	case text:
		v.text, v.cut = c.trim(c.named(key, v.text), v.cut), false
	case array:
		v.list = c.elements(key, v.list)
	case object:
		keys, list := make([]string, len(v.keys)), make([]value, len(v.list))
		for i, k := range v.keys {
			keys[i] = c.text(k)
			list[i] = c.member(k, v.list[i])
		}
		v = newObject(keys, list)
	}
	return v
}

// named returns s, the value of key, without secrets.
func (c *cleaner) named(key, s string) string {
	if key == "" {
		return c.text(s)
	}
	return c.behind(`"`+key+`": "`, s)
}

// elements cleans the elements of a list that key names. Lists of arguments
// name a value by the option before it.
func (c *cleaner) elements(key string, list []value) []value {
	out := make([]value, len(list))
	for i, e := range list {
		out[i] = c.member(key, e)
		if i > 0 && e.kind == text && strings.HasPrefix(list[i-1].str(), "-") {
			out[i].text = c.behind(list[i-1].text+" ", out[i].text)
		}
	}
	return out
}

// trim cuts a text that has no secrets any more. Where it had been cut before
// they were removed, the first part of one may stand at its end, too short to be
// told; all of the margin goes.
func (c *cleaner) trim(s string, cut bool) string {
	keep := len(s)
	if cut {
		keep = max(0, keep-margin)
	}
	keep = min(keep, maxText)
	if keep == len(s) {
		return s
	}
	t := clip.AtWord(s, keep)
	c.lost += int64(len(s) - len(t))
	return t
}

// head returns a payload that is no JSON as text.
func (c *cleaner) head(p payload) string {
	return c.trim(c.text(string(p.head)), p.cut)
}

// clip cuts s to limit bytes and counts what it cuts.
func (c *cleaner) clip(s string, limit int) string {
	t := clip.Bytes(s, limit)
	c.lost += int64(len(s) - len(t))
	return t
}
