package config_test

import (
	"testing"

	"github.com/amber-memory/amber/config"
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
		if got := l.Config.Journal.MaxBytes; got != tt.want {
			t.Errorf("%q is %d bytes, want %d", tt.text, got, tt.want)
		}
		if got := valueOf(t, l, "journal.max_bytes").Value; got != tt.show {
			t.Errorf("%q is shown as %v, want %s", tt.text, got, tt.show)
		}
	}
	if got := config.Bytes(0).String(); got != "0B" {
		t.Errorf("nothing is %q, want 0B", got)
	}
}
