package setup

import (
	"encoding/json"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/capture/settings"
)

// serverName is what hosts call the MCP server.
const serverName = "amber"

// server is Amber's MCP server in a JSON file.
type server struct {
	at []string // where the servers are
	// joined hosts have the program and its arguments in one list.
	joined  bool
	program string
	args    []string
	entry   serverEntry
}

// serverEntry is the whole entry of a server; hosts differ in the members they want.
type serverEntry struct {
	Type    string   `json:"type,omitempty"`
	Command any      `json:"command"` // the program, or a list of it and its arguments
	Args    []string `json:"args,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	Enabled bool     `json:"enabled,omitempty"`
}

func (s server) path() []string { return extend(s.at, serverName) }

// errForeign is returned for a server of this name that is not Amber's.
func errForeign() error {
	return amber.Errorf(amber.KindConflict, "add MCP server", serverName, "another MCP server has this name").WithHint("rename or remove the other MCP server")
}

// see returns the command of the server, nil when it is not there, and
// whether it is Amber's.
func (s server) see(j *settings.JSON) (command []string, ours bool) {
	n := j.Get(s.path()...)
	if n == nil {
		return nil, false
	}
	var split struct {
		Command json.RawMessage `json:"command"`
		Args    []string        `json:"args"`
	}
	if n.Kind == settings.Object {
		if err := j.Decode(n, &split); err != nil {
			return []string{}, false
		}
	}
	if s.joined {
		if err := json.Unmarshal(split.Command, &command); err != nil {
			return []string{}, false
		}
	} else {
		var program string
		if err := json.Unmarshal(split.Command, &program); err != nil {
			return []string{}, false
		}
		command = append([]string{program}, split.Args...)
	}
	return command, isServer(command)
}

// isServer reports whether a command starts Amber's MCP server.
func isServer(command []string) bool {
	return len(command) > 1 && isAmber(command[0]) && slices.Equal(skipFlags(command[1:]), []string{"mcp"})
}

func (s server) wanted() []string { return append([]string{s.program}, s.args...) }

func (s server) sync(d *draft) error {
	command, ours := s.see(d.json)
	switch {
	case command == nil:
		text, err := strictjson.Line(s.entry)
		if err != nil {
			return err
		}
		if err := d.ensure(settings.Object, s.at...); err != nil {
			return err
		}
		return d.add(s.at, serverName, text)
	case !ours:
		return errForeign()
	case slices.Equal(command, s.wanted()):
		return nil
	}
	values := map[string]any{"command": s.program, "args": s.args}
	if s.joined {
		values = map[string]any{"command": s.wanted()}
	}
	for key, v := range values {
		text, err := strictjson.Line(v)
		if err != nil {
			return err
		}
		if err := d.become(d.json.Set(text, extend(s.path(), key)...)); err != nil {
			return err
		}
	}
	return nil
}

func (s server) strip(d *draft) error {
	if _, ours := s.see(d.json); ours {
		return d.cut(s.path()...)
	}
	return nil
}

func (s server) state(d *draft) sight {
	if command, ours := s.see(d.json); ours {
		return sight{servers: 1, programs: command[:1]}
	}
	return sight{}
}
