package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/settings"
)

// place is a file of a host in which Amber has something.
type place struct {
	path string
	// idle places are not written by [Install]; entries that are there from
	// another time are found and removed.
	idle bool
	// retired places lose the entries that are there when Amber is set up: the
	// host would read them in a way that does harm.
	retired bool
	text    editor
}

// made reports whether setup made the file, so that it goes when nothing is
// left in it.
func (p place) made(old *record) bool {
	switch f := p.text.(type) {
	case plugin:
		return true
	case jsonFile:
		return f.own || old != nil && old.Original == ""
	}
	return old != nil && old.Original == ""
}

// editor changes the text of one file. Blank text and no text are the same.
type editor interface {
	// install returns the text with Amber's entries, and what the text without
	// them looked like where that cannot be seen afterwards.
	install(text []byte, m memory) ([]byte, memory, error)
	// uninstall returns the text without them, and whether nothing is left.
	uninstall(text []byte, m memory) (rest []byte, nothing bool, err error)
	// look says what is there.
	look(text []byte) (sight, error)
}

// sight is what Amber has in a file.
type sight struct {
	entries  int      // hooks
	servers  int      // MCP servers
	programs []string // that are run
	flags    []string // with which the first hook is run
}

// note adds a hook.
func (s *sight) note(c call) {
	if s.entries == 0 {
		s.flags = c.Flags
	}
	s.entries++
	s.programs = append(s.programs, c.Executable)
}

func (s sight) any() bool { return s.entries+s.servers > 0 }

// part is one thing in a JSON file.
type part interface {
	sync(d *draft) error
	strip(d *draft) error
	state(d *draft) sight
}

// jsonFile edits JSON with or without comments.
type jsonFile struct {
	add []part // what [Install] writes
	all []part // what may be there
	// own files are Amber's whole; an empty one is removed even when no record
	// says who made it.
	own bool
	// hosts are members that the host adds by itself to any file of this name. A
	// file that setup made and that holds nothing else goes with Amber's entries.
	hosts []string
}

func (f jsonFile) parse(text []byte, m memory) (*draft, error) {
	j, err := settings.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	if root := j.Root(); root != nil && root.Kind != settings.Object {
		return nil, errors.New("the file holds a value of type " + string(root.Kind) + " where an object should be")
	}
	return &draft{json: j, memory: m}, nil
}

func (f jsonFile) install(text []byte, m memory) ([]byte, memory, error) {
	d, err := f.parse(text, m)
	if err != nil {
		return nil, m, err
	}
	if d.json.Root() == nil {
		blank := string(text)
		d.memory.Blank = &blank
	} else {
		d.remember()
	}
	for _, p := range f.add {
		if err := p.sync(d); err != nil {
			return nil, m, err
		}
	}
	return d.json.Bytes(), d.memory, nil
}

func (f jsonFile) uninstall(text []byte, m memory) ([]byte, bool, error) {
	d, err := f.parse(text, m)
	if err != nil || d.json.Root() == nil {
		return text, false, err
	}
	before := len(d.json.Root().Items)
	for _, p := range f.all {
		if err := p.strip(d); err != nil {
			return nil, false, err
		}
	}
	_, nothing := d.json.Interior()
	if nothing = nothing && before > 0; nothing && m.Blank != nil && strings.Trim(*m.Blank, "\ufeff \t\r\n") == "" {
		return []byte(*m.Blank), true, nil
	}
	return d.json.Bytes(), nothing || before > 0 && f.onlyHosts(d.json.Root()), nil
}

// onlyHosts reports whether all members are such as the host adds by itself.
func (f jsonFile) onlyHosts(root *settings.Node) bool {
	for _, item := range root.Items {
		if !slices.Contains(f.hosts, item.Key) {
			return false
		}
	}
	return len(root.Items) > 0
}

func (f jsonFile) look(text []byte) (sight, error) {
	d, err := f.parse(text, memory{})
	if err != nil {
		return sight{}, err
	}
	if d.json.Root() == nil {
		return sight{}, nil
	}
	var out sight
	for _, p := range f.all {
		s := p.state(d)
		if out.entries == 0 {
			out.flags = s.flags
		}
		out.entries += s.entries
		out.servers += s.servers
		out.programs = append(out.programs, s.programs...)
	}
	return out, nil
}

// tomlFile edits Codex's config.toml.
type tomlFile struct {
	host string
	add  inline
}

func (f tomlFile) install(text []byte, m memory) ([]byte, memory, error) {
	doc, err := settings.ParseTOML(text)
	if err != nil {
		return nil, m, err
	}
	if doc, err = f.add.sync(doc); err != nil {
		return nil, m, err
	}
	return doc.Bytes(), m, nil
}

func (f tomlFile) uninstall(text []byte, _ memory) ([]byte, bool, error) {
	doc, err := settings.ParseTOML(text)
	if err != nil {
		return nil, false, err
	}
	if doc, err = stripInline(doc, f.host); err != nil {
		return nil, false, err
	}
	rest := doc.Bytes()
	return rest, len(bytes.TrimSpace(rest)) == 0 && len(bytes.TrimSpace(text)) > 0, nil
}

func (f tomlFile) look(text []byte) (sight, error) {
	doc, err := settings.ParseTOML(text)
	if err != nil {
		return sight{}, err
	}
	return lookInline(doc, f.host), nil
}

// PluginMark is in the first line of the plugin for OpenCode.
const PluginMark = "amber-memory opencode plugin"

// plugin is a file that is Amber's whole.
type plugin struct{ source string }

// command returns the program and the flags that a plugin runs, nil when it
// does not say so where it should.
func (p plugin) command(text []byte) (command []string) {
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "const command = "); ok {
			if json.Unmarshal([]byte(list), &command) != nil || len(command) == 0 {
				return nil
			}
			return command
		}
	}
	return nil
}

// ours reports whether a text is a plugin of Amber's.
func (p plugin) ours(text []byte) bool {
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.HasPrefix(first, "// "+PluginMark)
}

func (p plugin) install(text []byte, m memory) ([]byte, memory, error) {
	if !p.ours([]byte(p.source)) {
		return nil, m, amber.Errorf(amber.KindInvalid, "write plugin", "", "this build has no plugin for OpenCode")
	}
	if len(bytes.TrimSpace(text)) > 0 && !p.ours(text) {
		return nil, m, amber.Errorf(amber.KindConflict, "write plugin", "", "another plugin has this name")
	}
	return []byte(p.source), m, nil
}

func (p plugin) uninstall(text []byte, _ memory) ([]byte, bool, error) {
	if !p.ours(text) {
		return text, false, nil
	}
	return nil, true, nil
}

func (p plugin) look(text []byte) (sight, error) {
	if !p.ours(text) {
		return sight{}, nil
	}
	s := sight{entries: 1}
	if command := p.command(text); command != nil && len(skipFlags(command[1:])) == 0 {
		s.programs, s.flags = command[:1], command[1:]
	}
	return s, nil
}
