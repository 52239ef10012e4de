package setup

import (
	"slices"
	"strconv"

	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/capture/settings"
)

// hooks are Amber's entries in a JSON file that lists commands by event.
type hooks struct {
	host   string
	at     []string // where the events are
	nested bool     // entries lie in groups, event → [{hooks: [entry]}]
	// versioned files say "version": 1 at the top.
	versioned bool
	events    []event
	entry     func(event) handler
}

// commandKeys are where an entry may have its command.
var commandKeys = []string{"command", "bash", "powershell", "windows", "linux", "osx"}

// sighting is an entry of Amber's in a file.
type sighting struct {
	call
	path    []string // of the entry
	key     string   // where its command is
	command string
	event   string // under which it is listed
}

// see returns the entries of this host, in the order of the file.
func (h hooks) see(j *settings.JSON) (found []sighting) {
	events := j.Get(h.at...)
	if events == nil || events.Kind != settings.Object {
		return nil
	}
	for _, e := range events.Items {
		if e.Value.Kind != settings.Array {
			continue
		}
		for i, item := range e.Value.Items {
			path := extend(h.at, e.Key, strconv.Itoa(i))
			if !h.nested {
				found = h.look(found, item.Value, path, e.Key)
				continue
			}
			if inner := item.Value.Member("hooks"); inner != nil && inner.Kind == settings.Array {
				for k, entry := range inner.Items {
					found = h.look(found, entry.Value, extend(path, "hooks", strconv.Itoa(k)), e.Key)
				}
			}
		}
	}
	return found
}

// look adds an entry when it is Amber's.
func (h hooks) look(found []sighting, entry *settings.Node, path []string, event string) []sighting {
	for _, key := range commandKeys {
		n := entry.Member(key)
		if n == nil || n.Kind != settings.String {
			continue
		}
		if c, ok := parseCall(n.Text); ok && c.Host == h.host {
			return append(found, sighting{c, path, key, n.Text, event})
		}
	}
	return found
}

func extend(path []string, more ...string) []string { return slices.Concat(path, more) }

// wanted returns the command of an entry.
func (h hooks) wanted(e event) string {
	x := h.entry(e)
	return x.Command + x.Bash + x.PowerShell
}

// sync adds the hooks that are missing, corrects those that are there and removes those that
// are there twice or no longer asked for. Other keys of an entry stay, such as a timeout that
// the user changed.
func (h hooks) sync(d *draft) error {
	if h.versioned && d.json.Root().Member("version") == nil {
		if err := d.add(nil, "version", []byte("1")); err != nil {
			return err
		}
		d.memory.Version = true
	}
	found := h.see(d.json)
	there := map[string]bool{}
	var extra []sighting
	for _, s := range found {
		i := slices.IndexFunc(h.events, func(e event) bool { return e.name == s.event })
		if i < 0 || there[s.event] {
			extra = append(extra, s)
			continue
		}
		there[s.event] = true
		if err := d.set(h.wanted(h.events[i]), s.command, extend(s.path, s.key)); err != nil {
			return err
		}
	}
	for _, s := range slices.Backward(extra) {
		if err := h.cut(d, s.path); err != nil {
			return err
		}
	}
	for _, e := range h.events {
		if there[e.name] {
			continue
		}
		if err := h.addEvent(d, e); err != nil {
			return err
		}
	}
	return nil
}

func (h hooks) addEvent(d *draft, e event) error {
	var entry any = h.entry(e)
	if h.nested {
		entry = group{[]handler{h.entry(e)}}
	}
	text, err := strictjson.Line(entry)
	if err != nil {
		return err
	}
	if err := d.ensure(settings.Object, h.at...); err != nil {
		return err
	}
	list := extend(h.at, e.name)
	if err := d.ensure(settings.Array, list...); err != nil {
		return err
	}
	return d.add(list, "", text)
}

// strip removes every entry, and the containers that held nothing else.
func (h hooks) strip(d *draft) error {
	for _, s := range slices.Backward(h.see(d.json)) {
		if err := h.cut(d, s.path); err != nil {
			return err
		}
	}
	if root := d.json.Root(); d.memory.Version && root.Member("version") != nil {
		// A file that had something in it did without; one that had not may
		// hold hooks of the user's by now, which need it.
		if _, wasEmpty := d.memory.Empty[""]; len(root.Items) == 1 || !wasEmpty && d.memory.Blank == nil {
			return d.cut("version")
		}
	}
	return nil
}

// cut removes one entry, and its group when nothing else is in it.
func (h hooks) cut(d *draft, path []string) error {
	if !h.nested {
		return d.cut(path...)
	}
	outer := path[:len(path)-2]
	g := d.json.Get(outer...)
	only := len(g.Member("hooks").Items) == 1
	for _, item := range g.Items {
		only = only && (item.Key == "hooks" || item.Key == "matcher")
	}
	if only {
		return d.cut(outer...)
	}
	return d.cutAlone(path...)
}

func (h hooks) state(d *draft) (s sight) {
	for _, f := range h.see(d.json) {
		s.note(f.call)
	}
	return s
}
