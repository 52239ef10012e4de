package serve

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// openBrowser opens an address in a browser. Where that is not possible, the address was printed.
func (a *app) openBrowser(address string) {
	for _, words := range a.browsers(address) {
		path, err := a.browserPath(words[0])
		if err != nil {
			continue
		}
		cmd := exec.Command(path, words[1:]...) // stdin, stdout and stderr are the null device
		cmd.Env = a.Environ
		cli.Detach(cmd)
		if err := cmd.Start(); err == nil {
			_ = cmd.Process.Release() // it lives on
			return
		}
	}
	a.Out.Note("no browser was found: open the address yourself")
}

// browserPath finds a program by its name or its path.
func (a *app) browserPath(name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	return a.LookPath(name)
}

// browsers are the command lines that open an address, the best one first. $BROWSER is a list, separated as in
// $PATH, in which %s is replaced by the address.
func (a *app) browsers(address string) (all [][]string) {
	for _, line := range filepath.SplitList(a.Getenv("BROWSER")) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if !strings.Contains(line, "%s") {
			words = append(words, "%s")
		}
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "%s", address)
		}
		all = append(all, words)
	}
	return append(all, a.systemBrowser(runtime.GOOS, address)...)
}

// systemBrowser is what a system opens links with. Without a screen xdg-open would start a browser in the terminal.
func (a *app) systemBrowser(system, address string) [][]string {
	switch system {
	case "windows":
		return [][]string{{"rundll32", "url.dll,FileProtocolHandler", address}}
	case "darwin":
		return [][]string{{"open", address}}
	}
	if a.Getenv("DISPLAY") == "" && a.Getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	return [][]string{{"xdg-open", address}}
}
