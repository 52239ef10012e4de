package share

import (
	"os"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestAuthorIsTheUserElseTheMachine(t *testing.T) {
	t.Parallel()
	host := must.Get(os.Hostname())(t)
	for _, tt := range []struct {
		environ []string
		want    string
	}{
		{[]string{"USER=ann", "USERNAME=bob"}, "ann"},
		{[]string{"USERNAME=bob"}, "bob"},
		{[]string{"USER=\x01", "USERNAME=bob"}, "bob"},
		{nil, host},
	} {
		a := &app{&cli.App{World: cli.World{Environ: tt.environ}}}
		cmd := a.syncExportCommand(&syncFlags{})
		if got, err := a.author(cmd, ""); got != tt.want || err != nil {
			t.Errorf("%q: got %q, %v; want %q", tt.environ, got, err, tt.want)
		}
		must.Do(t, cmd.Flags().Set("created-by", ""))
		if _, err := a.author(cmd, ""); amber.KindOf(err) != amber.KindInvalid {
			t.Errorf("an empty name: got %v, want invalid", err)
		}
	}
}
