package tui

import (
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestWords(t *testing.T) {
	must.Equal(t, "words", must.Get(splitWords(`a "b c" 'd "e' f\ g ""`))(t), []string{"a", "b c", `d "e`, "f g", ""})
	must.Error(t, "open quote", must.Err(splitWords(`a "b`)))
	for _, s := range []string{"plain", "two words", "it's", "", "$HOME", "a\nb"} {
		must.Equal(t, "quoted", must.Get(splitWords(quoted(s)))(t), []string{s})
	}
}

func TestAgainID(t *testing.T) {
	must.Equal(t, "id", againID("build"), "build.again-1")
	must.Equal(t, "id", againID("build.again-1"), "build.again-2")
	must.Equal(t, "id", againID("x.again-99999999"), "x.again-99999999.again-1")
}
