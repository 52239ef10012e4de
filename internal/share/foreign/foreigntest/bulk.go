package foreigntest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Transcripts makes a home of Claude Code with so many transcripts of about so many bytes each, over twenty projects. The
// same arguments make the same files.
func Transcripts(dir string, files, bytesEach int) error {
	for i := range files {
		slug := fmt.Sprintf("-src-project-%02d", i%20)
		if err := os.MkdirAll(filepath.Join(dir, "projects", slug), 0o700); err != nil {
			return err
		}
		b := &bulk{random: rand.New(rand.NewPCG(uint64(i), 1)), file: i, cwd: fmt.Sprintf("/src/project-%02d", i%20)}
		name := filepath.Join(dir, "projects", slug, b.session()+".jsonl")
		if err := b.write(name, bytesEach); err != nil {
			return err
		}
		at := b.at()
		if err := os.Chtimes(name, at, at); err != nil {
			return err
		}
	}
	return nil
}

// bulk writes one transcript.
type bulk struct {
	random *rand.Rand
	file   int
	line   int
	cwd    string
	out    *bufio.Writer
	bytes  int
	err    error
}

func (b *bulk) write(name string, size int) error {
	f, err := create(name)
	if err != nil {
		return err
	}
	b.out = bufio.NewWriterSize(f, 1<<20)
	b.put(map[string]any{"type": "permission-mode", "permissionMode": "default", "sessionId": b.session()})
	for b.bytes < size && b.err == nil {
		b.exchange()
	}
	b.put(map[string]any{"type": "ai-title", "aiTitle": "About " + b.words(3), "sessionId": b.session()})
	return errors.Join(b.err, b.out.Flush(), f.Close())
}

// exchange writes a prompt, what the model did about it, and its answer.
func (b *bulk) exchange() {
	b.said("user", map[string]any{"role": "user", "content": b.words(10 + b.random.IntN(60))}, nil)
	for n := range 1 + b.random.IntN(6) {
		id := fmt.Sprintf("msg_%d_%d", b.file, b.line)
		tool := fmt.Sprintf("toolu_%d_%d", b.file, b.line)
		b.part(id, map[string]any{"type": "thinking", "thinking": b.words(80), "signature": b.noise(400)})
		if n == 0 {
			b.part(id, map[string]any{"type": "text", "text": b.paragraphs(1)})
		}
		output := b.listing(200 + b.random.IntN(20_000))
		if b.random.IntN(3) == 0 {
			b.part(id, map[string]any{"type": "tool_use", "id": tool, "name": "Bash", "input": map[string]any{"command": "go test ./" + b.words(1)}})
		} else {
			b.part(id, map[string]any{"type": "tool_use", "id": tool, "name": "Read", "input": map[string]any{"file_path": b.cwd + "/" + b.words(1) + ".go"}})
		}
		b.said("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": tool, "content": output}}},
			map[string]any{"toolUseResult": map[string]any{"type": "text", "file": map[string]any{"content": output, "numLines": strings.Count(output, "\n")}}})
	}
	b.part(fmt.Sprintf("msg_%d_%d", b.file, b.line), map[string]any{"type": "text", "text": b.paragraphs(4)})
}

func (b *bulk) part(id string, block map[string]any) {
	b.said("assistant", map[string]any{
		"id": id, "type": "message", "role": "assistant", "model": "model", "content": []any{block},
		"usage": map[string]any{"input_tokens": b.random.IntN(1000), "output_tokens": b.random.IntN(1000)},
	}, nil)
}

// said writes a line that follows the one before.
func (b *bulk) said(typ string, message, more map[string]any) {
	l := map[string]any{
		"type": typ, "uuid": b.uuid(b.line + 1), "parentUuid": nil, "sessionId": b.session(), "timestamp": b.at().Format("2006-01-02T15:04:05.000Z"),
		"cwd": b.cwd, "gitBranch": "main", "version": "2.1.300", "isSidechain": false, "userType": "external", "message": message,
	}
	if b.line > 0 {
		l["parentUuid"] = b.uuid(b.line)
	}
	for k, v := range more {
		l[k] = v
	}
	b.line++
	b.put(l)
}

func (b *bulk) put(l map[string]any) {
	raw, err := json.Marshal(l)
	if err == nil {
		_, err = b.out.Write(append(raw, '\n'))
	}
	b.bytes += len(raw) + 1
	b.err = errors.Join(b.err, err)
}

func (b *bulk) session() string { return fmt.Sprintf("b0000000-0000-4000-8000-%012d", b.file) }

func (b *bulk) uuid(line int) string {
	return fmt.Sprintf("c%07d-0000-4000-8000-%012d", b.file, line)
}

func (b *bulk) at() time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(b.file)*time.Hour + time.Duration(b.line)*time.Second)
}

var bulkWords = strings.Fields(`the total is wrong for two coupons because rounding happens twice once per line and once per invoice
	we should keep decimals until the end then round half even look at tests in checkout payment cart price engine shipping tax
	database migration index query cache server client token error retry deploy window monday branch review release note`)

func (b *bulk) words(n int) string {
	var s strings.Builder
	for i := range n {
		if i > 0 {
			s.WriteByte(' ')
		}
		s.WriteString(bulkWords[b.random.IntN(len(bulkWords))])
	}
	return s.String()
}

func (b *bulk) paragraphs(n int) string {
	var parts []string
	for range n {
		parts = append(parts, b.words(30+b.random.IntN(80)), "- "+b.words(8)+"\n- "+b.words(12), "```go\nfunc "+b.words(1)+"() {\n\treturn\n}\n```")
	}
	return strings.Join(parts, "\n\n")
}

// listing looks like a file that a tool has read.
func (b *bulk) listing(size int) string {
	var s strings.Builder
	for n := 1; s.Len() < size; n++ {
		fmt.Fprintf(&s, "%6d→\t%s := %q // %s\n", n, b.words(1), b.words(2), b.words(4))
	}
	return s.String()
}

func (b *bulk) noise(n int) string {
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[b.random.IntN(64)]
	}
	return string(raw)
}
