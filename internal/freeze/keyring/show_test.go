package keyring_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// everyWay returns what becomes of a value in messages, logs and JSON.
func everyWay(t testing.TB, v any) (shown []string) {
	t.Helper()
	type holder struct{ Held any }
	for _, held := range []any{v, holder{v}, []any{v}, map[string]any{"held": v}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b", "%c", "%U", "% x"} {
			shown = append(shown, fmt.Sprintf(verb, held))
		}
		if b, err := json.Marshal(held); err == nil {
			shown = append(shown, string(b))
		}
		var logged bytes.Buffer
		for _, h := range []slog.Handler{slog.NewTextHandler(&logged, nil), slog.NewJSONHandler(&logged, nil)} {
			slog.New(h).Info("shown", "held", held)
		}
		shown = append(shown, logged.String())
	}
	return shown
}

// leaks looks for a secret, or a part of it, in what is shown.
func leaks(shown string, secret []byte) bool {
	part := secret[:6]
	decimal := strings.Trim(fmt.Sprint(part), "[]")
	forms := []string{
		string(part), hex.EncodeToString(part), strings.ToUpper(hex.EncodeToString(part)), decimal, strings.ReplaceAll(decimal, " ", ","), strings.ReplaceAll(decimal, " ", ", "),
		base64.RawStdEncoding.EncodeToString(part), fmt.Sprintf("% x", part), strings.Trim(fmt.Sprintf("%#v", part), "[]byte{}"), strings.Trim(fmt.Sprintf("%b", part), "[]"),
		strings.Trim(fmt.Sprintf("%o", part), "[]"),
	}
	for _, f := range forms {
		if strings.Contains(shown, f) {
			return true
		}
	}
	return false
}
