package config_test

import (
	"testing"

	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestSizesReadWell writes a size in several ways and looks how it is shown.
func TestSizesReadWell(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want config.Bytes
		show string
	}{
		{"64MiB", 64 << 20, "64MiB"},
		{"64mib", 64 << 20, "64MiB"},
		{" 64 MiB ", 64 << 20, "64MiB"},
		{"2048KiB", 2 << 20, "2MiB"},
		{"1025KiB", 1025 << 10, "1025KiB"},
		{"1048577", 1<<20 + 1, "1048577B"},
		{"1048577B", 1<<20 + 1, "1048577B"},
		{"1GiB", 1 << 30, "1GiB"},
		{"1TiB", 1 << 40, "1TiB"},
	}
	for _, tt := range tests {
		l := load(t, config.Input{Flags: map[string]string{"journal.max_bytes": tt.text}})
		must.Equal(t, tt.text, l.Config.Journal.MaxBytes, tt.want)
		must.Equal[any](t, tt.text+", as it is shown", valueOf(t, l, "journal.max_bytes").Value, tt.show)
	}
	must.Equal(t, "nothing", config.Bytes(0).String(), "0B")
}
