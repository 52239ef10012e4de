package digest

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestCuesAreRead: each list is read, its phrases are as words of a text are, and a phrase counts by its weight.
func TestCuesAreRead(t *testing.T) {
	t.Parallel()
	files := must.Get(fs.Glob(phrases, "cues/*.txt"))(t)
	must.Equal(t, "files", len(files), 11)
	for _, file := range files {
		c := cuesOf(strings.TrimSuffix(path.Base(file), ".txt"))
		for _, some := range c.first() {
			for _, one := range some {
				must.Equal(t, file, words(strings.Join(one.words, " ")), one.words)
				must.Equal(t, file, c.score(one.words), one.weight)
			}
		}
	}
}

func TestCuesAreChecked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1 a b\n\n# c\n":    "",
		"1 a\nmuch a b\n":   `line 2 of x is "much a b\n", want a weight and a phrase`,
		"1\n":               `line 1 of x is "1\n", want a weight and a phrase`,
		"1 a b\n0 a  b\r\n": `line 2 of x has the phrase "a b", which is in the file already`,
	} {
		_, err := readCues(fstest.MapFS{"x": {Data: []byte(text)}}, "x")
		got := ""
		if err != nil {
			got = err.Error()
		}
		must.Equal(t, text, got, want)
	}
}

// TestTonguesAreRead: the cues of each language are read, are for lists that there are, and count where a session is held in it.
func TestTonguesAreRead(t *testing.T) {
	t.Parallel()
	lists := map[string]bool{"agreements": true}
	for _, file := range must.Get(fs.Glob(phrases, "cues/*.txt"))(t) {
		lists[strings.TrimSuffix(path.Base(file), ".txt")] = true
	}
	files := must.Get(fs.Glob(phrases, "cues/in/*.txt"))(t)
	must.Equal(t, "languages", len(files), 7)
	must.Equal(t, "read", len(tonguesOf()), len(files))
	for tag, of := range tonguesOf() {
		for list, first := range of {
			must.Hold(t, lists[list], "%s has the list %q, which English has not", tag, list)
			c := cues{list, func() map[string][]cue { return nil }}
			for _, some := range first {
				for _, one := range some {
					must.Equal(t, tag, words(strings.Join(one.words, " ")), one.words)
					must.Equal(t, tag+" "+strings.Join(one.words, " "), c.score(one.words, tag) > 0, true)
					must.Equal(t, "in English", c.score(one.words), 0.0)
				}
			}
		}
	}
}

// A session is read with the cues of the language that it is held in.
func TestSessionInAnotherLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want          Kind
		text, consent string
	}{
		{Constraint, "Wir dürfen niemals direkt auf den Hauptzweig schreiben, das ist verboten.", ""},
		{Constraint, "Nunca se debe publicar los viernes, está prohibido para todo el equipo.", ""},
		{Constraint, "Nunca se deve publicar na sexta-feira, é proibido para toda a equipe.", ""},
		{Decision, "Wir haben entschieden, dass die Rechnungen in PostgreSQL bleiben.", "Einverstanden, schreib es auf."},
		{Decision, "Nous avons décidé que les factures restent dans PostgreSQL.", "D'accord, note cela."},
		{Decision, "請求書はPostgreSQLに保存することに決めました。", "了解、お願いします。"},
		{Decision, "我们决定把发票放在 PostgreSQL 里，不再用别的数据库。", "同意，记下来。"},
	} {
		speaker := amber.RoleUser
		if c.want == Decision {
			speaker = amber.RoleAssistant
		}
		d := Make(Session{ID: "s", Turns: []amber.Turn{
			{ID: "1", Role: amber.RoleUser, Content: "Hello, let us look at the invoices and at the release of the week."},
			{ID: "2", Role: speaker, Content: c.text},
			{ID: "3", Role: amber.RoleUser, Content: c.consent},
			{ID: "4", Role: amber.RoleAssistant, Content: "All of it is written down, and both of the tests of the week pass now."},
		}})
		must.Hold(t, slices.ContainsFunc(d.Items, func(it Item) bool { return it.Kind == c.want }), "%q is no %s: %v", c.text, c.want, d.Items)
	}
}
