package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// npm installs packages, each into a folder of its own.
type npm struct {
	dir     string
	offline bool
}

// nodePackage is the Node.js that hosts run on: npm has it as a package, and
// would choose an older version of a host for an older Node.js.
const nodePackage = "node@24"

// installTime bounds one installation.
const installTime = 10 * time.Minute

func (n npm) installNode(ctx context.Context) error {
	return n.fetch(ctx, "node", nodePackage)
}

// path is PATH with the Node.js of npm first.
func (n npm) path() string {
	return filepath.Join(n.dir, "node", "node_modules", "node", "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
}

// program is a program of a host's package.
func (n npm) program(h host) string {
	return filepath.Join(n.dir, h.name, "node_modules", ".bin", h.program)
}

// install installs the newest version of a host and returns which it is.
func (n npm) install(ctx context.Context, h host) (string, error) {
	if err := n.fetch(ctx, h.name, h.packages+"@latest"); err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(n.dir, h.name, "node_modules", filepath.FromSlash(h.packages), "package.json"))
	if err != nil {
		return "", err
	}
	var about struct{ Version string }
	if err := json.Unmarshal(text, &about); err != nil {
		return "", fmt.Errorf("package.json of %s: %w", h.packages, err)
	}
	return about.Version, nil
}

func (n npm) fetch(ctx context.Context, folder, spec string) error {
	if n.offline {
		return nil
	}
	dir := filepath.Join(n.dir, folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte("{\"private\": true}\n"), 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", dir, spec)
	cmd.Env = append(os.Environ(), "PATH="+n.path())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install %s: %w: %s", spec, err, lastLines(string(out), 3))
	}
	return nil
}

// lastLines returns the end of what a program printed, on one line.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " / ")
}
