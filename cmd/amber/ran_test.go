package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// ran is one run of the program, and what came of it.
type ran struct {
	t              testing.TB
	args           []string
	code           int
	stdout, stderr string
}

// testWorld is the world in which most tests run the program: a folder, an environment, and no person at a
// terminal.
func testWorld(dir string, environ ...string) cli.World {
	return cli.World{
		Stdin: strings.NewReader(""), Environ: environ, Directory: func() (string, error) { return dir, nil },
		Clock: time.Now, Random: rand.Reader, FSInfo: fsx.Info, Terminal: func() bool { return false },
		Program: thisProgram,
	}
}

// runIn runs the program in a world, with outputs of its own.
func runIn(ctx context.Context, t testing.TB, w cli.World, args ...string) ran {
	var out, errs bytes.Buffer
	w.Stdout, w.Stderr = &out, &errs
	code := run(ctx, args, w)
	return ran{t, args, code, out.String(), errs.String()}
}

// serveIn starts a server in the process of the test. Once it listens, it returns its URL and what ends the server and
// returns its exit code; a server that does not listen has ended, and the error is its exit code.
func serveIn(ctx context.Context, w cli.World, args ...string) (url string, end func() int, err error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r, out := io.Pipe()
	w.Stdout = out
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"serve"}, args...), w)
		_ = out.Close()
	}()
	end = func() int {
		cancel()
		return <-ended
	}
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return "", nil, fmt.Errorf("exit %d", end())
	}
	return strings.TrimSpace(line), end, nil
}

// exits checks that the exit code is one of these.
func (r ran) exits(want ...int) ran {
	r.t.Helper()
	if !slices.Contains(want, r.code) {
		r.t.Errorf("%q exits %d, want %v: %s%s", r.args, r.code, want, r.stdout, r.stderr)
	}
	return r
}

// prints checks that standard output has all these words.
func (r ran) prints(words ...string) ran {
	r.t.Helper()
	says(r.t, strings.Join(r.args, " ")+": stdout", r.stdout, words...)
	return r
}

// warns checks that standard error has all these words.
func (r ran) warns(words ...string) ran {
	r.t.Helper()
	says(r.t, strings.Join(r.args, " ")+": stderr", r.stderr, words...)
	return r
}

// tells checks that one of the outputs has all these words.
func (r ran) tells(words ...string) ran {
	r.t.Helper()
	says(r.t, strings.Join(r.args, " "), r.stdout+r.stderr, words...)
	return r
}

// omits checks that neither output has any of these words.
func (r ran) omits(words ...string) ran {
	r.t.Helper()
	for _, w := range words {
		if strings.Contains(r.stdout+r.stderr, w) {
			r.t.Errorf("%q says %q:\n%s%s", r.args, w, r.stdout, r.stderr)
		}
	}
	return r
}

// line returns what a successful run printed, without the line break at its end.
func (r ran) line() string {
	r.t.Helper()
	if r.code != 0 {
		r.t.Fatalf("%q exits %d: %s", r.args, r.code, r.stderr)
	}
	return strings.TrimSpace(r.stdout)
}

// says checks that a text has all these words.
func says(t testing.TB, where, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not say %q:\n%s", where, w, text)
		}
	}
}
