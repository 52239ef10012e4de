package words_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestStatesOfSessionsAreWords(t *testing.T) {
	ended := amber.UnixMilli(1)
	for reason, want := range map[amber.EndReason]string{
		amber.EndEnded: "ended", amber.EndCrash: "crashed", amber.EndIdle: "went silent",
		"prompt_input_exit": "closed", "clear": "cleared", "the_moon_is_full": "the moon is full",
	} {
		must.Equal(t, string(reason), words.State(amber.Session{EndedAt: ended, EndReason: reason}), want)
	}
	must.Equal(t, "a session that goes on", words.State(amber.Session{}), "open")
}

// Every host that hooks know has a name as its maker writes it.
func TestEveryHostHasAName(t *testing.T) {
	for _, h := range hook.Hosts() {
		if words.Host(string(h)) == string(h) {
			t.Errorf("host %s is shown by its code", h)
		}
	}
	must.Equal(t, "a binding of a user", words.Host("release chat"), "release chat")
}
