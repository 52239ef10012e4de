package main

import (
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestVersionIsThatOfTheBuild(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ set, module, want string }{
		{"v1.2.0-3-gabcdef0", "v1.1.0", "v1.2.0-3-gabcdef0"},
		{"", "v1.1.0", "v1.1.0"}, // go install module@version
		{"", "(devel)", "dev"},
		{"", "", "dev"},
	} {
		must.Equal(t, "version of "+tc.set+" and "+tc.module, versionOf(tc.set, tc.module), tc.want)
	}
}
