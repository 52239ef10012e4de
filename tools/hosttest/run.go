package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// run is one host in a home of its own.
type run struct {
	o     options
	npm   npm
	host  host
	dir   string // of everything below
	home  string // of the user
	work  string // of the project
	model *model
}

// memoryText is what Amber remembers. It is unique enough to be found in a request.
const memoryText = "The build marker of this house is quince-8142."

// script is the conversation: one prompt, and another one in the same session,
// which is taken up again.
var script = []line{
	{"Which build marker do we use? Ask the shell first.", "The build marker is quince-8142, as Amber remembers."},
	{"And who has chosen that marker?", "Nobody has told me who chose quince-8142."},
}

func newRun(o options, n npm, h host) (*run, error) {
	r := &run{o: o, npm: n, host: h, dir: filepath.Join(o.dir, "run", h.name)}
	r.home, r.work = filepath.Join(r.dir, "home"), filepath.Join(r.dir, "shop")
	if err := os.RemoveAll(r.dir); err != nil {
		return nil, err
	}
	for _, dir := range []string{r.home, r.work} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	var err error
	if r.model, err = startModel(filepath.Join(r.dir, "model.log"), script...); err != nil {
		return nil, err
	}
	for name, text := range h.files(r) {
		path := filepath.Join(r.home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// env is the environment of all programs: only the variables that they need, none of
// the user who runs the test. No proxy listens at the address given, so programs
// reach only loopback.
func (r *run) env() []string {
	env := []string{
		"HOME=" + r.home, "PATH=" + r.npm.path(), "LANG=C.UTF-8", "TERM=dumb", "TMPDIR=" + os.TempDir(), "NO_COLOR=1",
		"CI=1", "NO_UPDATE_NOTIFIER=1",
	}
	if r.host.env != nil {
		env = append(env, r.host.env(r)...)
	}
	if !r.host.online {
		const closed = "http://127.0.0.1:9"
		env = append(env, "HTTPS_PROXY="+closed, "HTTP_PROXY="+closed, "https_proxy="+closed, "http_proxy="+closed,
			"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost")
	}
	return env
}

// amber runs Amber and returns what it printed.
func (r *run) amber(ctx context.Context, args ...string) (string, error) {
	out, errs, err := r.exec(ctx, "amber", r.o.amber, args...)
	if err != nil {
		return out, fmt.Errorf("amber %s: %w: %s", strings.Join(args, " "), err, lastLines(errs, 3))
	}
	return out, nil
}

// agent runs the host.
func (r *run) agent(ctx context.Context, args ...string) (string, error) {
	out, errs, err := r.exec(ctx, r.host.name, r.npm.program(r.host), args...)
	if err != nil {
		return out, fmt.Errorf("%s: %w: %s", r.host.name, err, lastLines(out+"\n"+errs, 3))
	}
	return out + errs, nil
}

// exec runs a program with the run's environment and notes what it printed in
// the file log.
func (r *run) exec(ctx context.Context, name, program string, args ...string) (out, errs string, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.o.patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = r.env(), r.work
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 5 * time.Second // a program that it left behind may hold the pipes
	inGroup(cmd)
	err = cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("not done within %v", r.o.patience)
	}
	r.note(fmt.Sprintf("%s %q: %v\n%s\n%s\n", name, args, err, &stdout, &stderr))
	return stdout.String(), stderr.String(), err
}

func (r *run) note(text string) {
	f, err := os.OpenFile(filepath.Join(r.dir, "run.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.WriteString(text)
}
