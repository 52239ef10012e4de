package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// silence is a reader that says something and then nothing, for ever. It sends to waiting when a reader waits
// for more.
type silence struct {
	says    io.Reader
	waiting chan struct{}
	end     chan struct{}
}

func (s *silence) Read(b []byte) (int, error) {
	if n, err := s.says.Read(b); err == nil {
		return n, nil
	}
	select {
	case s.waiting <- struct{}{}:
	case <-s.end:
	}
	<-s.end
	return 0, io.EOF
}

// Every verb that reads stdin stops when its context ends, with the exit code of what is unreachable, and
// stores nothing of what it has read so far.
func TestVerbsStopWhileTheyReadStdin(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	runs := func(ctx context.Context, in io.Reader, terminal bool, args ...string) (string, int) {
		w := testWorld(filepath.Dir(home), "PATH="+os.Getenv("PATH"), "HOME="+filepath.Dir(home), "AMBER_HOME="+home)
		w.Stdin, w.Terminal = in, func() bool { return terminal }
		r := runIn(ctx, t, w, args...)
		return r.stdout + r.stderr, r.code
	}
	id, code := runs(t.Context(), strings.NewReader(""), false, "--quiet", "remember", "before")
	if code != 0 {
		t.Fatal(id)
	}
	id = strings.TrimSpace(id)
	for _, args := range [][]string{
		{"remember", "-"},
		{"remember", "--jsonl", "-"},
		{"recall", "-"},
		{"context", "-"},
		{"edit", id, "-"},
		{"note", "write", "name", "-"},
		{"turn", "add", "-", "--session", "s"},
		{"loop", "save", "-", "--session", "s", "--run", "r"},
		{"session", "end", "--summary", "-"},
		{"task", "save", "t", "--goal", "-"},
		{"result", "save", "-"},
		{"queue", "publish", "q", "-"},
		{"approval", "request", "-"},
		{"journal", "append", "--session", "s", "--type", "prompt", "-"},
		{"journal", "import", "-"},
		{"forget", id, "--erase"}, // it asks
	} {
		t.Run(args[0]+" "+args[len(args)-2], func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			in := &silence{strings.NewReader(`{"content":"half`), make(chan struct{}), make(chan struct{})}
			if args[0] == "forget" {
				in.says = strings.NewReader("")
			}
			defer close(in.end)
			type result struct {
				text string
				code int
			}
			done := make(chan result, 1)
			go func() {
				text, code := runs(ctx, in, true, args...)
				done <- result{text, code}
			}()
			select {
			case <-in.waiting:
			case r := <-done:
				t.Fatalf("exit %d before it read\n%s", r.code, r.text)
			}
			stop()
			r := <-done
			if r.code != 7 || !strings.Contains(r.text, "interrupted") {
				t.Errorf("exit %d\n%s", r.code, r.text)
			}
			if strings.Contains(r.text, "mend the line") {
				t.Errorf("no line is wrong, the hint says\n%s", r.text)
			}
			if args[0] == "remember" && args[1] == "--jsonl" {
				must.Says(t, "hint", r.text, "0 memories of earlier batches are stored; run it again, what is stored is not stored twice")
			}
		})
	}
	t.Cleanup(func() { // after all of them
		text, code := runs(context.Background(), strings.NewReader(""), false, "list", "--all", "--jsonl")
		if code != 0 || strings.Contains(text, "half") || strings.Count(text, "\n") != 1 {
			t.Errorf("exit %d, stored:\n%s", code, text)
		}
	})
}
