package setup

import (
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber/internal/capture/settings"
)

func droid() host {
	return host{
		name: "droid", title: "Factory Droid", programs: []string{"droid"},
		folders: func(o Options) []string { return []string{filepath.Join(o.Home, ".factory")} },
		places: func(o Options, s Scope) ([]place, error) {
			dir := filepath.Join(o.base(s, o.Home), ".factory")
			places, err := o.droidPlaces(dir)
			return append(places, o.serverFile(filepath.Join(dir, "mcp.json"), o.typed("stdio", "mcpServers"))), err
		},
		next: "start a new session of Droid; /hooks lists what runs",
	}
}

// droidFile is a file in which Droid looks for hooks.
type droidFile struct {
	path   string
	at     []string        // where the events are
	exists bool            // on disk, and not only because of Amber
	users  map[string]bool // events with a hook that is not Amber's
	events []event         // what Amber asks for there
}

// droidPlaces spreads Amber's hooks over the files of Droid so that none of the
// user's is switched off. Droid reads hooks.json, or hooks/hooks.json, which
// older versions wrote, where there is no hooks.json. An event listed there hides
// the same event in settings.json.
func (o Options) droidPlaces(dir string) ([]place, error) {
	files := []*droidFile{
		{path: filepath.Join(dir, "hooks.json")},
		{path: filepath.Join(dir, "hooks", "hooks.json")},
		{path: filepath.Join(dir, "settings.json"), at: []string{"hooks"}},
	}
	for _, f := range files {
		if err := o.lookAtDroid(f); err != nil {
			return nil, err
		}
	}
	list, shared := files[0], files[2]
	if !list.exists && files[1].exists {
		list = files[1]
	}
	main := list
	if !list.exists && len(shared.users) > 0 {
		main = shared
	}
	for _, e := range droidEvents() {
		f := main
		if !list.users[e.name] && shared.users[e.name] {
			f = shared
		}
		f.events = append(f.events, e)
	}
	slices.SortStableFunc(files, func(a, b *droidFile) int { return droidRank(a, main) - droidRank(b, main) })
	var places []place
	for _, f := range files {
		places = append(places, o.droidPlace(*f))
	}
	return places, nil
}

// droidRank puts the file that gets most of the hooks first.
func droidRank(f, main *droidFile) int {
	if f == main {
		return 0
	}
	return 1
}

func (o Options) droidPlace(f droidFile) place {
	// A file that is left without hooks must go, for even an empty hooks.json
	// switches the older one off.
	unused := len(f.events) == 0
	if unused {
		f.events = droidEvents()
	}
	h := hooks{host: "droid", at: f.at, nested: true, events: f.events, entry: o.entries("droid", 1)}
	return place{path: f.path, idle: unused, retired: unused, text: jsonFile{add: []part{h}, all: []part{h}, own: unused && !f.exists}}
}

// lookAtDroid fills in what is in a file.
func (o Options) lookAtDroid(f *droidFile) error {
	found, err := o.read(f.path)
	if err != nil || !found.exists {
		return err
	}
	j, err := settings.ParseJSON(found.text)
	if err != nil {
		return broken(f.path, err)
	}
	h := hooks{host: "droid", at: f.at, nested: true}
	ours := map[string]int{}
	for _, s := range h.see(j) {
		ours[s.event]++
	}
	f.users = map[string]bool{}
	if events := j.Get(f.at...); events != nil && events.Kind == settings.Object {
		for _, e := range events.Items {
			if ours[e.Key] == 0 || entriesOf(e.Value) > ours[e.Key] {
				f.users[e.Key] = true
			}
		}
	}
	f.exists = len(ours) == 0 || len(f.users) > 0 || !o.madeHere(found.target)
	return nil
}

// entriesOf counts the hooks of an event.
func entriesOf(event *settings.Node) (n int) {
	for _, group := range event.Items {
		list := group.Value.Member("hooks")
		if list == nil {
			n++ // whatever it is
			continue
		}
		n += len(list.Items)
	}
	return n
}

// madeHere reports whether setup has made a file, as far as is known.
func (o Options) madeHere(target string) bool {
	old, _, err := o.recall(target)
	return err == nil && (old == nil || old.Original == "")
}
