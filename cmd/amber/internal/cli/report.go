package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// MaxWarnings is how many things of one kind are named one by one.
const MaxWarnings = 20

// WarnSkipped names what is not in a snapshot though it should be, and what is
// wrong with what is.
func (a *App) WarnSkipped(skipped []wire.Skipped, warnings []string) {
	for _, text := range warnings[:min(len(warnings), MaxWarnings)] {
		a.Out.Warn("%s", text)
	}
	for _, s := range skipped[:min(len(skipped), MaxWarnings)] {
		a.Out.Warn("not in the snapshot: %s", DescribeSkipped(s))
	}
	if more := max(len(warnings)-MaxWarnings, 0) + max(len(skipped)-MaxWarnings, 0); more > 0 {
		a.Out.Warn("and %d more: amber snapshot show", more)
	}
}

// DescribeSkipped says what is not in a snapshot, and why.
func DescribeSkipped(s wire.Skipped) string {
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

// ByteSize tells a number of bytes as people do.
func ByteSize(n int64) string {
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

// OrEmpty keeps lists from being null in JSON.
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// PrintDamage names everything that is not as it was written.
func (a *App) PrintDamage(w io.Writer, damaged []wire.Damage) {
	for _, d := range damaged {
		needed := ""
		if len(d.Snapshots) > 0 {
			needed = " (needed by " + shortIDs(d.Snapshots) + ")"
		}
		Wrapped(w, 4, "  %s %s: %s%s", a.Out.Style(Amb, "DAMAGED"), Flat(d.Object), Flat(d.Reason), needed)
	}
}

func shortIDs(ids []amber.SnapshotID) string {
	const most = 10
	short := make([]string, 0, most+1)
	for _, id := range ids[:min(len(ids), most)] {
		short = append(short, Flat(ShortID(string(id))))
	}
	if more := len(ids) - most; more > 0 {
		short = append(short, fmt.Sprintf("%d more", more))
	}
	return strings.Join(short, ", ")
}

// PrintChecks prints checks that were made: failed ones in full.
func (a *App) PrintChecks(w io.Writer, checks []wire.Check) {
	for _, c := range checks {
		verdict := "ok"
		if !c.OK {
			verdict = a.Out.Style(Amb, "FAILED")
		}
		line := fmt.Sprintf("  check %s of %s: %s", Flat(c.Name), Flat(c.Part), verdict)
		if !c.At.IsZero() {
			line += a.Out.Style(Dim, ", checked "+a.Out.When(c.At))
		}
		if c.Detail != "" {
			line += ": " + OneLine(c.Detail, 200)
		}
		Wrapped(w, 4, "%s", line)
	}
}

// NoteLeftOut names what did not come along.
func (a *App) NoteLeftOut(left []wire.Skipped, what string) {
	for _, s := range left[:min(len(left), MaxWarnings)] {
		a.Out.Warn("not in the %s: %s", what, DescribeSkipped(s))
	}
	if more := len(left) - MaxWarnings; more > 0 {
		a.Out.Warn("not in the %s: %d more", what, more)
	}
}

// DescribeSignature tells in one line what became of a signature; "" when
// nothing is known about it.
func DescribeSignature(s sign.SignatureReport) string {
	text := ""
	switch s.Status {
	case sign.SignatureValid:
		whose := map[sign.Standing]string{
			sign.StandingOwn: "this home's own key", sign.StandingTrusted: "a trusted key", sign.StandingStranger: "a key that is not trusted here",
		}[s.Standing]
		if whose == "" {
			whose = "a key"
		}
		return fmt.Sprintf("signed by %s, %s", whose, Flat(string(s.KeyID)))
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
		text += ": " + Flat(s.Detail)
	}
	return text
}

// PrintSignature prints who signed, and whether the signature counts.
func (a *App) PrintSignature(w io.Writer, s sign.SignatureReport) {
	text := DescribeSignature(s)
	if text == "" {
		return
	}
	if s.Status == sign.SignatureBad || s.Status == sign.SignatureStripped {
		text = a.Out.Style(Amb, text)
	}
	Wrapped(w, 4, "  %s %s", a.Out.Style(Dim, "signature:"), text)
}

// ScoreParts names the parts of a score that are not 0. A score always has words.
func ScoreParts(w *amber.Why) string {
	parts := fmt.Sprintf("words %.3f", w.Words)
	for _, part := range []struct {
		name  string
		value float64
	}{
		{"meaning", w.Meaning},
		{"neighbours", w.Neighbours},
		{"session", w.Session},
		{"speaker", w.Speaker},
		{"time", w.Time},
		{"kind", w.Kind},
		{"trust", w.Trust},
		{"near the best", w.Feedback},
		{"wording", w.Wording},
	} {
		if part.value != 0 {
			parts += fmt.Sprintf(", %s %.3f", part.name, part.value)
		}
	}
	return parts
}
