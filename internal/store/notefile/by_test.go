package notefile_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
	"github.com/amber-memory/amber/internal/test/must"
)

// A message says who made a change in one line at its end, and nothing of the owner.
func TestMessages(t *testing.T) {
	t.Parallel()
	by := amber.NoteBy{Trust: amber.TrustAgent, Author: amber.Author{Host: "codex", Session: "s"}}
	const line = "Amber-Author: {\"trust\":\"agent\",\"author\":{\"host\":\"codex\",\"session\":\"s\"}}"
	must.Equal(t, "of an agent", notefile.Message(by, notefile.OpWrite, "plan"), "write plan\n\n"+line)
	must.Equal(t, "of the owner", notefile.Message(amber.NoteBy{}, notefile.OpWrite, "plan"), "write plan")
	must.Equal(t, "read back", notefile.By(strings.TrimPrefix(line, gitobj.ByTrailer+": ")), by)
}

// A commit may be made by hand: its trailer lowers the trust of a change and never raises it.
func TestTrailersOfOthers(t *testing.T) {
	t.Parallel()
	unknown := amber.NoteBy{Trust: amber.TrustAgent}
	for trailer, want := range map[string]amber.NoteBy{
		"":                          {},
		"Ada <ada@example.org>":     unknown,
		"{}":                        unknown,
		`{"trust":"own"}`:           unknown,
		`{"trust":"signed"}`:        unknown,
		`{"trust":"rumour"}`:        unknown,
		`{"trust":"imported"}`:      {Trust: amber.TrustImported},
		`{"trust":"agent"} {"a":1}`: unknown,
		`{"trust":"agent","author":{"host":"a\u001b[31m"}}`:                       unknown,
		`{"trust":"agent","author":{"host":"` + strings.Repeat("x", 1000) + `"}}`: unknown,
	} {
		must.Equal(t, trailer, notefile.By(trailer), want)
	}
}
