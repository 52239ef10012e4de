package image

import (
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/guard/redact"
)

// redacted returns what becomes of a value, and how many secrets were in it.
func (d *redaction) redacted(as treatment, value string) (string, int64) {
	if as == asName {
		return d.name(value)
	}
	if harmless(value) {
		return value, 0
	}
	switch as {
	case AsJSON:
		return d.document(value)
	case asLines:
		return d.list(value)
	}
	return d.text(value)
}

func (d *redaction) text(value string) (string, int64) {
	out, report, rest := d.clean(value)
	return out, d.count(report, rest)
}

// clean redacts a text and counts nothing.
func (d *redaction) clean(value string) (out string, found, known redact.Report) {
	out, found = d.redactor.String(value)
	out, known = d.secrets.Remove(out)
	d.secrets.Excuse(out)
	return out, found, known
}

func (d *redaction) document(value string) (string, int64) {
	out, report := d.redactor.JSON(value, nil)
	out, rest := d.secrets.RemoveJSON(out)
	d.secrets.Excuse(out)
	return out, d.count(report, rest)
}

func (d *redaction) list(value string) (string, int64) {
	var n int64
	lines := strings.Split(value, "\n")
	for i, line := range lines {
		out, found := d.text(line)
		lines[i] = out
		n += found
	}
	if n == 0 {
		return value, 0
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n"), n
}

func (d *redaction) count(reports ...redact.Report) (n int64) {
	for _, r := range reports {
		for rule, count := range r.Counts {
			if rule != moved {
				d.matches[rule] += int64(count)
				n += int64(count)
			}
		}
	}
	return n
}
