package analyze_test

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/test/must"
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
		must.Equal(t, fmt.Sprintf("Glued(%q)", tc.text), analyze.Glued(tc.text), tc.want)
	}
}
