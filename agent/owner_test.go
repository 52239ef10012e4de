package agent

import (
	"io/fs"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// A secret is for its owner. Root may give it to a group, as Kubernetes does, and never to everybody or to be written.
func TestSecretMode(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		mode     fs.FileMode
		fromRoot bool
		want     bool
	}{
		{0o600, false, true},
		{0o400, false, true},
		{0o440, false, false},
		{0o640, false, false},
		{0o604, false, false},
		{0o440, true, true},
		{0o640, true, true},
		{0o460, true, false},
		{0o444, true, false},
		{0o641, true, false},
	} {
		must.Equal(t, tc.mode.String(), secretMode(tc.mode, tc.fromRoot), tc.want)
	}
}
