package openviking

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func plain(s string) string { return s }

func TestBodyHasTitleLabelsSummaryAndContent(t *testing.T) {
	t.Parallel()
	m := someMemory()
	m.Title, m.Summary = " Tabs\nor spaces ", "Tabs."
	must.Equal(t, "body", bodyOf(m, plain), "# Tabs or spaces\n\nTopic: indent. Tags: go, style\n\nTabs.\n\nIndent with tabs.")
	m = &amber.Memory{Content: "\x1c Indent. \n", Metadata: map[string]string{"secret": "metadata"}}
	must.Equal(t, "content alone", bodyOf(m, plain), "Indent.")
	must.Equal(t, "nothing", bodyOf(&amber.Memory{Content: " \n"}, plain), "(no text)")
}

func TestBodyIsRedactedAsAWhole(t *testing.T) {
	t.Parallel()
	m := someMemory()
	m.Title, m.Summary, m.Content, m.Tags, m.Topic = "hunter2", "hunter2!", "is hunter2", []string{"hunter2"}, "hunter2"
	body := bodyOf(m, func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") })
	must.Hides(t, "body", body, "hunter2")
	must.Equal(t, "marks", strings.Count(body, "[secret]"), 5)
}

func TestLongBodyIsCutAtACharacter(t *testing.T) {
	t.Parallel()
	for shift := range 4 {
		m := &amber.Memory{Content: strings.Repeat("a", shift) + strings.Repeat("語", maxBody/3+10)}
		body := bodyOf(m, plain)
		must.Hold(t, len(body) <= maxBody && utf8.ValidString(body), "the body has %d bytes, valid: %t", len(body), utf8.ValidString(body))
		must.Says(t, "body", body[len(body)-60:], "Cut: the whole text has")
		must.Hold(t, holds([]byte(body+"\n"+trailerMark+" x -->"), body), "the cut body is not recognised")
	}
	whole := strings.Repeat("a", maxBody)
	must.Hold(t, bodyOf(&amber.Memory{Content: whole}, plain) == whole, "a body of just the limit is changed")
}

// FuzzBodySurvivesTheServer keeps a body as the server would: trimmed, and cut where it takes a
// text for its trailer.
func FuzzBodySurvivesTheServer(f *testing.F) {
	f.Add("title", "content "+trailerMark+" {\"a\":1} --> more", "")
	f.Add("", "\u2003<!--\tmemory_fields", "<!-- MEMORY_FIELDS")
	f.Add("\xff", "\x00\x1f", "MEMORY_MEMORY_FIELDSFIELDS")
	f.Fuzz(func(t *testing.T, title, content, summary string) {
		m := &amber.Memory{ID: someID, Kind: amber.Constraint, Scope: amber.ScopeGlobal, Title: title, Content: content, Summary: summary}
		body := bodyOf(m, plain)
		stored, _, _ := strings.Cut(strings.ToValidUTF8(trim(body), "?"), trailerMark)
		must.Hold(t, stored == body, "%q is stored as %q", body, stored)
		must.Hold(t, !strings.Contains(strings.ToUpper(body), "MEMORY_FIELDS"), "%q has the mark of a trailer", body)
		if !holds([]byte(body+"\n\n"+trailerMark+" {} -->"), body) || holds([]byte(body[:len(body)-1]), body) {
			t.Errorf("%q is not told from a torn one", body)
		}
		must.Hold(t, body == bodyOf(m, plain) && len(body) <= maxBody && body != "", "%q is not a body", body)
	})
}
