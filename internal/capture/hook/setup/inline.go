package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/settings"
)

// inline is what Amber has in Codex's config.toml: the MCP server, and hooks
// where the user has some of his own there.
type inline struct {
	server *server // nil: none is added
	hooks  *hooks  // nil: none are added
}

var serverTable = []string{"mcp_servers", serverName}

func (t inline) sync(doc *settings.TOML) (*settings.TOML, error) {
	var err error
	if t.hooks != nil {
		if doc, err = syncInline(doc, *t.hooks); err != nil {
			return nil, err
		}
	}
	if t.server == nil {
		return doc, nil
	}
	return syncServer(doc, *t.server)
}

// seeServer returns the command of the server, nil when it is not there, and
// whether it is Amber's.
func seeServer(doc *settings.TOML) (command []string, ours bool) {
	if !doc.Names(serverTable...) {
		return nil, false
	}
	tables := doc.Find(serverTable...)
	if len(tables) != 1 {
		return []string{}, false
	}
	t := doc.Tables[tables[0]]
	program, args := t.Key("command"), t.Key("args")
	if program == nil || program.Kind != settings.String {
		return []string{}, false
	}
	command = []string{program.Text}
	if args != nil {
		for _, a := range args.Items {
			command = append(command, a.Text)
		}
	}
	return command, isServer(command)
}

func syncServer(doc *settings.TOML, s server) (*settings.TOML, error) {
	command, ours := seeServer(doc)
	switch {
	case command == nil && doc.Sealed(serverTable...):
		return nil, amber.Errorf(amber.KindInvalid, "add MCP server", serverName, "mcp_servers is written as one value; make it a table first")
	case command == nil:
		return doc.Append(fmt.Sprintf("[%s]\ncommand = %s\nargs = %s", strings.Join(serverTable, "."), settings.Quote(s.program), settings.QuoteList(s.args)))
	case !ours:
		return nil, errForeign()
	case slices.Equal(command, s.wanted()):
		return doc, nil
	}
	i := doc.Find(serverTable...)[0]
	doc, err := doc.Replace(doc.Tables[i].Key("command"), settings.Quote(s.program))
	if err != nil {
		return nil, err
	}
	return doc.Replace(doc.Tables[i].Key("args"), settings.QuoteList(s.args))
}

// seenInline is an entry of Amber's among the inline hooks.
type seenInline struct {
	call
	table int // of the entry
	group int // the table of its group
	only  bool
	event string
}

// seeInline returns Amber's inline hooks in the order of the file.
func seeInline(doc *settings.TOML, host string) (found []seenInline) {
	groups := map[string]int{} // event → the table of the group under way
	entries := map[int]int{}   // group → its entries
	for i, t := range doc.Tables {
		switch {
		case len(t.Path) < 2 || t.Path[0] != "hooks" || !t.Array:
		case len(t.Path) == 2:
			groups[t.Path[1]] = i
		case len(t.Path) == 3 && t.Path[2] == "hooks":
			g := groups[t.Path[1]]
			entries[g]++
			if v := t.Key("command"); v != nil && v.Kind == settings.String {
				if c, ok := parseCall(v.Text); ok && c.Host == host {
					found = append(found, seenInline{call: c, table: i, group: g, event: t.Path[1]})
				}
			}
		}
	}
	for i := range found {
		found[i].only = found[i].group > 0 && entries[found[i].group] == 1
	}
	return found
}

func syncInline(doc *settings.TOML, h hooks) (*settings.TOML, error) {
	var err error
	there := map[string]bool{}
	var extra []seenInline
	for _, s := range seeInline(doc, h.host) {
		i := slices.IndexFunc(h.events, func(e event) bool { return e.name == s.event })
		if i < 0 || there[s.event] {
			extra = append(extra, s)
			continue
		}
		there[s.event] = true
		if v := doc.Tables[s.table].Key("command"); v.Text != h.wanted(h.events[i]) {
			if doc, err = doc.Replace(v, settings.Quote(h.wanted(h.events[i]))); err != nil {
				return nil, err
			}
		}
	}
	if doc, err = cutInline(doc, extra); err != nil {
		return nil, err
	}
	for _, e := range h.events {
		if there[e.name] {
			continue
		}
		if doc.Sealed("hooks", e.name) || len(doc.Find("hooks", e.name)) > 0 && !doc.Tables[doc.Find("hooks", e.name)[0]].Array {
			return nil, fmt.Errorf("hooks.%s is written as one value; write it as [[hooks.%s]] first", e.name, e.name)
		}
		x := h.entry(e)
		for _, block := range []string{
			fmt.Sprintf("[[hooks.%s]]", e.name),
			fmt.Sprintf("[[hooks.%s.hooks]]\ntype = %s\ncommand = %s\ntimeout = %d", e.name, settings.Quote(x.Type), settings.Quote(x.Command), x.Timeout),
		} {
			if doc, err = doc.Append(block); err != nil {
				return nil, err
			}
		}
	}
	return doc, nil
}

// cutInline removes entries, and their groups when nothing else is in them.
func cutInline(doc *settings.TOML, found []seenInline) (_ *settings.TOML, err error) {
	var tables []int
	for _, s := range found {
		tables = append(tables, s.table)
		if s.only {
			tables = append(tables, s.group)
		}
	}
	slices.Sort(tables)
	for _, i := range slices.Backward(slices.Compact(tables)) {
		if doc, err = doc.Remove(i); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// stripInline removes everything of Amber's, with whatever else is said about
// its server: without the server it would be an error.
func stripInline(doc *settings.TOML, host string) (*settings.TOML, error) {
	doc, err := cutInline(doc, seeInline(doc, host))
	if err != nil {
		return nil, err
	}
	if _, ours := seeServer(doc); !ours {
		return doc, nil
	}
	for i := len(doc.Tables) - 1; i > 0; i-- {
		if p := doc.Tables[i].Path; len(p) >= 2 && slices.Equal(p[:2], serverTable) {
			if doc, err = doc.Remove(i); err != nil {
				return nil, err
			}
		}
	}
	return doc, nil
}

// lookInline says what Amber has in config.toml.
func lookInline(doc *settings.TOML, host string) (s sight) {
	for _, f := range seeInline(doc, host) {
		s.note(f.call)
	}
	if command, ours := seeServer(doc); ours {
		s.servers, s.programs = 1, append(s.programs, command[0])
	}
	return s
}
