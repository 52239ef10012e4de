package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/sign"
	"github.com/amber-memory/amber/wire"
)

// maxWarnings is how many things of one kind are named one by one.
const maxWarnings = 20

// warnSkipped names what is not in a snapshot though it should be, and what is
// wrong with what is.
func (a *app) warnSkipped(skipped []wire.Skipped, warnings []string) {
	for _, text := range warnings[:min(len(warnings), maxWarnings)] {
		a.out.warn("%s", text)
	}
	for _, s := range skipped[:min(len(skipped), maxWarnings)] {
		a.out.warn("not in the snapshot: %s", describeSkipped(s))
	}
	if more := max(len(warnings)-maxWarnings, 0) + max(len(skipped)-maxWarnings, 0); more > 0 {
		a.out.warn("and %d more: amber snapshot show", more)
	}
}

func describeSkipped(s wire.Skipped) string {
	reasons := map[string]string{
		wire.SkipMissing:     "it is not there",
		wire.SkipUnreadable:  "it cannot be read",
		wire.SkipTorn:        "it changed while it was read",
		wire.SkipTooLarge:    "it is too large",
		wire.SkipNotRegular:  "it is a link or no regular file",
		wire.SkipBadName:     "its name cannot be restored everywhere",
		wire.SkipUnsupported: "its form is not supported",
	}
	reason := reasons[s.Reason]
	if reason == "" {
		reason = s.Reason
	}
	if s.Detail != "" {
		reason += " (" + s.Detail + ")"
	}
	return strings.TrimSpace(s.Part+" "+s.Path) + ": " + reason
}

// byteSize tells a number of bytes as people do.
func byteSize(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1024, 0
	for value >= 1023.95 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	return fmt.Sprintf("%.1f %ciB", value, units[unit])
}

// count tells a number of things: "1 file", "2 files".
func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// orEmpty keeps lists from being null in JSON.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// printDamage names everything that is not as it was written.
func (a *app) printDamage(w io.Writer, damaged []wire.Damage) {
	for _, d := range damaged {
		needed := ""
		if len(d.Snapshots) > 0 {
			needed = " (needed by " + shortIDs(d.Snapshots) + ")"
		}
		wrapped(w, 4, "  %s %s: %s%s", a.out.style(amb, "DAMAGED"), flat(d.Object), flat(d.Reason), needed)
	}
}

func shortIDs(ids []amber.SnapshotID) string {
	const most = 10
	short := make([]string, 0, most+1)
	for _, id := range ids[:min(len(ids), most)] {
		short = append(short, flat(shortID(string(id))))
	}
	if more := len(ids) - most; more > 0 {
		short = append(short, fmt.Sprintf("%d more", more))
	}
	return strings.Join(short, ", ")
}

// printChecks prints checks that were made: failed ones in full.
func (a *app) printChecks(w io.Writer, checks []wire.Check) {
	for _, c := range checks {
		verdict := "ok"
		if !c.OK {
			verdict = a.out.style(amb, "FAILED")
		}
		line := fmt.Sprintf("  check %s of %s: %s", flat(c.Name), flat(c.Part), verdict)
		if !c.At.IsZero() {
			line += a.out.style(dim, ", checked "+a.out.when(c.At))
		}
		if c.Detail != "" {
			line += ": " + oneLine(c.Detail, 200)
		}
		wrapped(w, 4, "%s", line)
	}
}

// noteLeftOut names what did not come along.
func (a *app) noteLeftOut(left []wire.Skipped, what string) {
	for _, s := range left[:min(len(left), maxWarnings)] {
		a.out.warn("not in the %s: %s", what, describeSkipped(s))
	}
	if more := len(left) - maxWarnings; more > 0 {
		a.out.warn("not in the %s: %d more", what, more)
	}
}

// describeSignature tells in one line what became of a signature; "" when
// nothing is known about it.
func describeSignature(s sign.SignatureReport) string {
	text := ""
	switch s.Status {
	case sign.SignatureValid:
		whose := map[sign.Standing]string{
			sign.StandingOwn: "this home's own key", sign.StandingTrusted: "a trusted key", sign.StandingStranger: "a key that is not trusted here",
		}[s.Standing]
		if whose == "" {
			whose = "a key"
		}
		return fmt.Sprintf("signed by %s, %s", whose, flat(string(s.KeyID)))
	case sign.SignatureMissing:
		text = "not signed"
	case sign.SignatureStripped:
		text = "SIGNATURE TAKEN AWAY"
	case sign.SignatureBad:
		text = "SIGNATURE BAD"
	default:
		return ""
	}
	if s.Detail != "" {
		text += ": " + flat(s.Detail)
	}
	return text
}

func (a *app) printSignature(w io.Writer, s sign.SignatureReport) {
	text := describeSignature(s)
	if text == "" {
		return
	}
	if s.Status == sign.SignatureBad || s.Status == sign.SignatureStripped {
		text = a.out.style(amb, text)
	}
	wrapped(w, 4, "  %s %s", a.out.style(dim, "signature:"), text)
}
