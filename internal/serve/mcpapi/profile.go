package mcpapi

import (
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/serve/mcpapi/compat"
	"github.com/amber-memory/amber/op"
)

// profile is a set of tools that go together.
type profile struct {
	name  string
	tools []*tool
}

// defaultProfile is what is offered where nothing else is said.
const defaultProfile = "default"

// profiles lists every profile. "all" is all of them.
func profiles() (all []profile) {
	for _, p := range append(op.Profiles(), compat.Profiles()...) {
		tools := make([]*tool, len(p.Tools))
		for i, t := range p.Tools {
			tools[i] = offer(t)
		}
		all = append(all, profile{p.Name, tools})
	}
	return all
}

// Check says whether tools may be asked for: "default", "all", a profile
// (snapshots, control, state, engram, reference, chatgpt, files), a tool by name, or
// several of them joined by commas. The error is of kind invalid.
func Check(tools string) error {
	_, err := choose(tools)
	return err
}

// choose returns the tools that were asked for, each once, in the order of the
// profiles.
func choose(tools string) ([]*tool, error) {
	if strings.TrimSpace(tools) == "" {
		tools = defaultProfile
	}
	all := profiles()
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(tools, ",") {
		if name = strings.TrimSpace(name); !markWanted(wanted, all, name) {
			return nil, unknownTools(all, name)
		}
	}
	var out []*tool
	for _, p := range all {
		for _, t := range p.tools {
			if wanted[t.Name] {
				out = append(out, t)
			}
		}
	}
	return out, nil
}

// markWanted marks the tools that a name means: all of them, those of a profile, or one.
func markWanted(wanted map[string]bool, all []profile, name string) (known bool) {
	for _, p := range all {
		for _, t := range p.tools {
			if name == "all" || name == p.name || name == t.Name {
				wanted[t.Name], known = true, true
			}
		}
	}
	return known
}

func unknownTools(all []profile, name string) error {
	var names []string
	for _, p := range all {
		names = append(names, p.name)
	}
	return amber.Errorf(amber.KindInvalid, "choose tools", "", "%q is neither a profile nor a tool", clip.Marked(name, 40)).WithHint("profiles: all, " + strings.Join(names, ", "))
}

// offers says whether a tool is among some.
func offers(tools []*tool, name string) bool {
	return slices.ContainsFunc(tools, func(t *tool) bool { return t.Name == name })
}

// Names returns the name of every tool there is.
func Names() []string {
	var names []string
	for _, p := range profiles() {
		for _, t := range p.tools {
			names = append(names, t.Name)
		}
	}
	return names
}
