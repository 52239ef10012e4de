package ovtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/proc"
)

// Real is a running OpenViking server that was started here.
type Real struct {
	URL       string
	RootKey   string
	Workspace string // the folder with its files

	setup  Setup
	config string // file
	log    *tail

	// These are for the process that runs now.
	process *os.Process
	stop    context.CancelFunc
	ended   chan struct{} // closed when it has ended
}

// Setup says how to start a real server.
type Setup struct {
	Venv string // Python environment with OpenViking
	// Dir is an empty folder for everything that the server writes.
	Dir string
	// Embedder is the URL of a server with the interface of OpenAI. The server asks it
	// at its start.
	Embedder   string
	Dimensions int // of its vectors
}

const (
	startPatience = 4 * time.Minute // half a minute is usual, on a machine with nothing else to do
	rootKey       = "root-of-a-test"
)

// Start starts a real server and waits until it answers. Stop ends it, and so does
// the end of ctx.
func Start(ctx context.Context, s Setup) (*Real, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	r := &Real{
		URL: fmt.Sprintf("http://127.0.0.1:%d", port), RootKey: rootKey, Workspace: filepath.Join(s.Dir, "data"),
		setup: s, config: filepath.Join(s.Dir, "config.json"), log: &tail{},
	}
	if err := fsx.CreateNew(fsx.OS(), r.config, 0o600, s.config(port, r.Workspace)); err != nil {
		return nil, err
	}
	if err := r.Again(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// Again starts a server that was stopped, with its files and at its address, and waits until it
// answers.
func (r *Real) Again(ctx context.Context) error {
	ctx, r.stop = context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, r.setup.program(), "--config", r.config)
	cmd.Dir = r.setup.Dir
	cmd.Env = append(os.Environ(), "HOME="+r.setup.Dir, "USERPROFILE="+r.setup.Dir)
	cmd.Stdout, cmd.Stderr = r.log, r.log
	cmd.WaitDelay = 10 * time.Second
	proc.OwnGroup(cmd)
	r.ended = make(chan struct{})
	if err := cmd.Start(); err != nil {
		r.stop()
		close(r.ended)
		return err
	}
	r.process = cmd.Process
	ended := r.ended
	go func() {
		_ = cmd.Wait() // it ends by being killed
		close(ended)
	}()
	if err := r.await(ctx); err != nil {
		r.Stop()
		return err
	}
	return nil
}

// Process is the server's process, for signals.
func (r *Real) Process() *os.Process { return r.process }

// Wait waits until the process has ended.
func (r *Real) Wait(ctx context.Context) error {
	select {
	case <-r.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stop kills the server and waits for its end. It may be called twice.
func (r *Real) Stop() {
	r.stop()
	<-r.ended
}

// Log returns the last of what the server printed.
func (r *Real) Log() string { return r.log.String() }

// await waits until the server answers.
func (r *Real) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL+"/health", nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			return resp.Body.Close()
		}
		select {
		case <-tick.C:
		case <-r.ended:
			return amber.Errorf(amber.KindUnreachable, "start OpenViking", r.URL, "the server ended: %s", r.Log())
		case <-ctx.Done():
			return amber.Errorf(amber.KindUnreachable, "start OpenViking", r.URL, "no answer within %v: %s", startPatience, r.Log())
		}
	}
}

func (s Setup) program() string {
	if runtime.GOOS == "windows" {
		return filepath.Join(s.Venv, "Scripts", "openviking-server.exe")
	}
	return filepath.Join(s.Venv, "bin", "openviking-server")
}

// config is the server's configuration file.
func (s Setup) config(port int, workspace string) []byte {
	text, err := json.Marshal(object{
		"server": object{"host": "127.0.0.1", "port": port, "auth_mode": "api_key", "root_api_key": rootKey},
		"storage": object{
			"workspace": workspace,
			"vectordb":  object{"backend": "local", "name": "context"},
			"agfs":      object{"backend": "local"},
		},
		"embedding": object{"dense": object{
			"provider": "openai", "model": "stub", "api_key": "x", "api_base": s.Embedder + "/v1",
			"dimension": s.Dimensions, "input": "text",
		}},
	})
	if err != nil {
		panic(err) // there is nothing in it that is not JSON
	}
	return text
}

// freePort returns a port of loopback that no process listens on at the moment.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
