package setup

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// host is an agent host and how it is set up.
type host struct {
	name     string
	title    string
	programs []string // by which it is found in the path
	folders  func(o Options) []string
	// places returns the files of a scope, the one with the hooks first.
	places func(o Options, s Scope) ([]place, error)
	next   string // what the user does after setting it up
}

// hosts lists what can be set up, in the order it is shown.
func hosts() []host {
	return []host{claude(), codex(), gemini(), cursor(), copilot(), vscode(), opencode(), droid()}
}

// Hosts returns the names of the hosts that can be set up.
func Hosts() (names []string) {
	for _, h := range hosts() {
		names = append(names, h.name)
	}
	return names
}

func findHost(name string) (host, error) {
	all := hosts()
	i := slices.IndexFunc(all, func(h host) bool { return h.name == name })
	if i < 0 {
		return host{}, amber.Errorf(amber.KindInvalid, "set up", name, "unknown host, want one of %s", strings.Join(Hosts(), ", ")).WithHint("amber setup --list")
	}
	return all[i], nil
}

// base returns the folder of a scope.
func (o Options) base(s Scope, user string) string {
	if s == User {
		return user
	}
	return o.Dir
}

// entries returns the function that makes entries of this host. The unit is
// how many of it a second has.
func (o Options) entries(name string, unit int) func(event) handler {
	return func(e event) handler {
		return handler{Type: "command", Command: o.command(name, e.name), Timeout: e.seconds * unit}
	}
}

// server returns the MCP server as most hosts want it.
func (o Options) server(at ...string) server {
	s := server{at: at, program: o.Executable, args: append(slices.Clone(o.Flags), "mcp")}
	s.entry = serverEntry{Command: s.program, Args: s.args}
	return s
}

// typed returns the MCP server with its type said.
func (o Options) typed(kind string, at ...string) server {
	s := o.server(at...)
	s.entry.Type = kind
	return s
}

// serverFile is a JSON file that holds MCP servers and no hooks.
func (o Options) serverFile(path string, s server) place {
	return place{path: path, idle: !o.MCP, text: jsonFile{add: []part{s}, all: []part{s}}}
}

func gemini() host {
	return host{
		name: "gemini", title: "Gemini CLI", programs: []string{"gemini"},
		folders: func(o Options) []string { return []string{filepath.Join(o.Home, ".gemini")} },
		places: func(o Options, s Scope) ([]place, error) {
			// The one host that counts milliseconds.
			h := hooks{host: "gemini", at: []string{"hooks"}, nested: true, events: geminiEvents(), entry: o.entries("gemini", 1000)}
			f := jsonFile{add: []part{h}, all: []part{h, o.server("mcpServers")}}
			if o.MCP {
				f.add = f.all
			}
			return []place{{path: filepath.Join(o.base(s, o.Home), ".gemini", "settings.json"), text: f}}, nil
		},
		next: "start a new session of Gemini CLI; /hooks panel lists what runs",
	}
}

func cursor() host {
	return host{
		name: "cursor", title: "Cursor", programs: []string{"cursor", "cursor-agent"},
		folders: func(o Options) []string { return []string{filepath.Join(o.Home, ".cursor")} },
		places: func(o Options, s Scope) ([]place, error) {
			dir := filepath.Join(o.base(s, o.Home), ".cursor")
			h := hooks{host: "cursor", at: []string{"hooks"}, versioned: true, events: cursorEvents(), entry: func(e event) handler {
				return handler{Command: o.command("cursor", e.name), Timeout: e.seconds}
			}}
			return []place{
				{path: filepath.Join(dir, "hooks.json"), text: jsonFile{add: []part{h}, all: []part{h}}},
				o.serverFile(filepath.Join(dir, "mcp.json"), o.server("mcpServers")),
			}, nil
		},
		next: "restart Cursor; its settings list the hooks",
	}
}

// sharedHooks is the file that both Copilot and VS Code read. The one that is
// set up first has it; entries of the other are left alone.
func (o Options) sharedHooks(s Scope, name string, entry func(event) handler) place {
	dir := filepath.Join(o.folder("COPILOT_HOME", ".copilot"), "hooks")
	if s == Project {
		dir = filepath.Join(o.Dir, ".github", "hooks")
	}
	h := hooks{host: name, at: []string{"hooks"}, versioned: true, events: copilotEvents(), entry: entry}
	return place{path: filepath.Join(dir, "amber.json"), text: jsonFile{add: []part{h}, all: []part{h}, own: true}}
}

// other is the host that reads the same hooks.
var other = map[string]string{"copilot": "vscode", "vscode": "copilot"}

func copilot() host {
	return host{
		name: "copilot", title: "GitHub Copilot CLI", programs: []string{"copilot"},
		folders: func(o Options) []string { return []string{o.folder("COPILOT_HOME", ".copilot")} },
		places: func(o Options, s Scope) ([]place, error) {
			hooks := o.sharedHooks(s, "copilot", func(e event) handler {
				if o.GOOS == "windows" {
					return handler{Type: "command", PowerShell: o.powershell("copilot", e.name), TimeoutSec: e.seconds}
				}
				return handler{Type: "command", Bash: o.command("copilot", e.name), TimeoutSec: e.seconds}
			})
			if s == Project {
				return []place{hooks}, nil // it has no file of its own for a project's servers
			}
			m := o.typed("local", "mcpServers")
			m.entry.Tools = []string{"*"}
			return []place{hooks, o.serverFile(filepath.Join(o.folder("COPILOT_HOME", ".copilot"), "mcp-config.json"), m)}, nil
		},
		next: "start a new session of Copilot CLI",
	}
}

func vscode() host {
	return host{
		name: "vscode", title: "VS Code", programs: []string{"code", "code-insiders"},
		folders: func(o Options) []string { return []string{filepath.Join(o.Home, ".vscode")} },
		places: func(o Options, s Scope) ([]place, error) {
			hooks := o.sharedHooks(s, "vscode", o.entries("vscode", 1))
			if s == User {
				return []place{hooks}, nil // its profile decides where a user's servers are
			}
			return []place{hooks, o.serverFile(filepath.Join(o.Dir, ".vscode", "mcp.json"), o.typed("stdio", "servers"))}, nil
		},
		next: `open a new chat in VS Code; the output "GitHub Copilot Chat Hooks" shows what runs`,
	}
}

func opencode() host {
	dir := func(o Options) string {
		return filepath.Join(o.folder("XDG_CONFIG_HOME", ".config"), "opencode")
	}
	return host{
		name: "opencode", title: "OpenCode", programs: []string{"opencode"},
		folders: func(o Options) []string { return []string{dir(o)} },
		places: func(o Options, s Scope) ([]place, error) {
			plugins, config := dir(o), dir(o)
			if s == Project {
				plugins, config = filepath.Join(o.Dir, ".opencode"), o.Dir
			}
			m := o.server("mcp")
			m.joined = true
			m.entry = serverEntry{Type: "local", Command: m.wanted(), Enabled: true}
			plain, commented := filepath.Join(config, "opencode.json"), filepath.Join(config, "opencode.jsonc")
			file := func(path string) place {
				pl := o.serverFile(path, m)
				pl.text = jsonFile{add: []part{m}, all: []part{m}, hosts: []string{"$schema"}}
				return pl
			}
			first, second := file(plain), file(commented)
			if !o.exists(plain) && o.exists(commented) {
				first, second = second, first
			}
			second.idle = true
			return []place{{path: filepath.Join(plugins, "plugins", "amber.js"), text: plugin{o.Plugin(append([]string{o.Executable}, o.Flags...))}}, first, second}, nil
		},
		next: "restart OpenCode",
	}
}
