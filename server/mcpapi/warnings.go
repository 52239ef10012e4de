package mcpapi

import (
	"context"
	"log/slog"
)

// warnings is a logger for what others tell: they say at lower levels what is
// said here, for each message.
func warnings(l *slog.Logger) *slog.Logger { return slog.New(loud{l.Handler()}) }

// loud leaves out what is less than a warning.
type loud struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (h loud) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (h loud) WithAttrs(attrs []slog.Attr) slog.Handler { return loud{h.Handler.WithAttrs(attrs)} }

// WithGroup implements [slog.Handler].
func (h loud) WithGroup(name string) slog.Handler { return loud{h.Handler.WithGroup(name)} }
