package analyze_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber/internal/analyze"
)

func TestGlued(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"", []string{}},
		{"plain words only", []string{}},
		{"使用 Redis 缓存", []string{}},
		{"使用Redis缓存", []string{"redis"}},
		{"PostgreSQLを選んだ", []string{"postgresql"}},
		{"選んだPostgreSQL", []string{"postgresql"}},
		{"a数b据c", []string{"a", "b", "c"}},
		{"v2版本 Müller様", []string{"v2", "muller"}},
	} {
		if diff := cmp.Diff(analyze.Glued(tc.text), tc.want); diff != "" {
			t.Errorf("Glued(%q) (-got +want):\n%s", tc.text, diff)
		}
	}
}
