package main

import "testing"

func TestVersionIsThatOfTheBuild(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ set, module, want string }{
		{"v1.2.0-3-gabcdef0", "v1.1.0", "v1.2.0-3-gabcdef0"},
		{"", "v1.1.0", "v1.1.0"}, // go install module@version
		{"", "(devel)", "dev"},
		{"", "", "dev"},
	} {
		if got := versionOf(tc.set, tc.module); got != tc.want {
			t.Errorf("versionOf(%q, %q) = %q, want %q", tc.set, tc.module, got, tc.want)
		}
	}
}
