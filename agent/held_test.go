package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// The shown content of the quarantine has no secret and no more bytes than an answer holds; an entry that is
// tried again is drained.
func TestTheQuarantineOfAnAgent(t *testing.T) {
	t.Parallel()
	a := opened(t)
	ctx := t.Context()
	must.Equal(t, "of a new agent", len(must.Get(a.HeldEntries(ctx, ""))(t)), 0)
	say(t, a, "s1", "first of all")
	must.NoError(t, must.Err(a.Drain(ctx, false)))
	j := must.Get(a.Journal())(t)
	key := must.Get(j.Find("s1"))(t)[0]
	const secret = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	must.Do(t, j.Quarantine(ctx, key, 7, []byte(`{"prompt":"use `+secret+`"}`), "no such tool"))
	must.Do(t, os.WriteFile(filepath.Join(a.folder.SpoolDir(), string(key), "quarantine", "large.torn"), make([]byte, wire.MaxHeldShown+1), 0o600))
	held := must.Get(a.HeldEntries(ctx, "s1"))(t)
	must.Equal(t, "files", len(held), 2)
	name := held[0].Name
	shown := string(must.Get(a.ShowHeld(ctx, "s1", name))(t).Payload)
	must.Hold(t, strings.Contains(shown, "use ") && !strings.Contains(shown, secret), "shown: %s", shown)
	must.Fail(a.ShowHeld(ctx, "s1", "large.torn"))(t, "a large file", amber.KindQuota)
	must.Fail(a.ShowHeld(ctx, "s1", "../meta"))(t, "a path", amber.KindNotFound)
	must.Fail(a.RetryHeld(ctx, wire.HeldRetry{Name: name}))(t, "a name without a session", amber.KindInvalid)
	must.Fail(a.RetryHeld(ctx, wire.HeldRetry{Session: "s1", Name: "missing"}))(t, "a missing file", amber.KindNotFound)
	must.Equal(t, "what is no entry", len(must.Get(a.RetryHeld(ctx, wire.HeldRetry{Session: "s1", Name: "large.torn"}))(t)), 0)
	must.Equal(t, "put back", must.Get(a.RetryHeld(ctx, wire.HeldRetry{}))(t), held[:1], cmp.AllowUnexported(amber.Time{}))
	must.Equal(t, "left", must.Get(a.HeldEntries(ctx, ""))(t), held[1:], cmp.AllowUnexported(amber.Time{}))
	kept := 0
	must.Do(t, must.Err(j.Look(ctx, key, func(f journal.Frame) error {
		if strings.Contains(string(f.Payload), secret) {
			kept++
		}
		return nil
	})))
	must.Equal(t, "entries that wait as they were", kept, 1)
}
