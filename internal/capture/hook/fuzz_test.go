package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/capture/hook"
)

// FuzzRead gives hosts any bytes, as they are and with a secret among them.
func FuzzRead(f *testing.F) {
	for i, host := range hook.Hosts() {
		for name, payload := range recorded(f, host) {
			event, _, _ := strings.Cut(name, "@")
			f.Add(uint8(i), event, []byte(payload))
		}
	}
	for _, s := range []string{"", "{", `{"a":"\ud83d`, `[[[[`, "\xff", `{"session_id":"../x"}`, `"<private>"`, `{"error":{}}`} {
		f.Add(uint8(0), "Stop", []byte(s))
	}
	planted := secret("fuzz")
	f.Fuzz(func(t *testing.T, host uint8, event string, payload []byte) {
		h := hook.Hosts()[int(host)%len(hook.Hosts())]
		first, second := hook.Read(input(h, event, string(payload))), hook.Read(input(h, event, string(payload)))
		if first.EventID != second.EventID || first.SessionID != second.SessionID {
			t.Errorf("read twice: %s and %s", first.EventID, second.EventID)
		}
		keepable(t, first)
		if b := hook.Reply(first, "context"); len(b) > 0 && !json.Valid(b) {
			t.Errorf("the reply is %s", b)
		}
		for _, hidden := range plant(planted, string(payload)) {
			if kept := keepable(t, hook.Read(input(h, event, hidden))); strings.Contains(string(kept), planted) {
				t.Errorf("%q is kept as %s", hidden, kept)
			}
		}
	})
}

// plant returns payloads with the secret in them: for every string of the
// payload that ends, one in which the secret stands at its end.
func plant(secret, payload string) []string {
	planted := []string{secret, payload + " " + secret}
	for i := 0; len(planted) < 12; {
		n := strings.IndexByte(payload[i:], '"')
		if n < 0 {
			break
		}
		i += n
		planted = append(planted, payload[:i]+" "+secret+" "+payload[i:])
		i++
	}
	return planted
}
