package pgtest

import (
	"os"
	"os/exec"
	"path/filepath"
)

// log is the file that a server writes its log to.
func (f *folder) log() string { return filepath.Join(f.path, "log") }

// start starts a server. The channel is closed when it has ended.
func (f *folder) start(name string, args ...string) (*exec.Cmd, <-chan struct{}, error) {
	log, err := os.OpenFile(f.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	cmd := f.command(name, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is in the log
		close(done)
	}()
	return cmd, done, nil
}

// tail returns the end of a file.
func tail(path string) string {
	const most = 8 << 10
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}
