package hook_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/capture/hook"
)

// BenchmarkReadHuge is a payload of which nearly nothing is kept.
func BenchmarkReadHuge(b *testing.B) {
	for name, body := range map[string]string{"text": "a line of output\\n", "values": `w","`, "escapes": `\n\t`} {
		b.Run(name, func(b *testing.B) {
			const size = 50 << 20
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				in := input(hook.ClaudeCode, "PostToolUse", "")
				in.Payload = &endless{head: `{"tool_response":["`, body: body, tail: `"]}`, left: size}
				hook.Read(in)
			}
		})
	}
}

// BenchmarkRead is what a hook process does for an ordinary event, but for the
// disk.
func BenchmarkRead(b *testing.B) {
	payload := recorded(b, hook.ClaudeCode)["PostToolUse@bash"]
	payload = strings.Replace(payload, "--- FAIL", strings.Repeat("a line of output\\n", 500), 1)
	b.SetBytes(int64(len(payload)))
	b.ReportAllocs()
	for b.Loop() {
		ev := hook.Read(input(hook.ClaudeCode, "", payload))
		if _, _, err := hook.Entry(ev); err != nil {
			b.Fatal(err)
		}
	}
}
