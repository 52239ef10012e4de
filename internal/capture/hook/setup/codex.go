package setup

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/amber-memory/amber/internal/capture/settings"
)

func codex() host {
	dir := func(o Options) string { return o.folder("CODEX_HOME", ".codex") }
	return host{
		name: "codex", title: "Codex", programs: []string{"codex"},
		folders: func(o Options) []string { return []string{dir(o)} },
		places: func(o Options, s Scope) ([]place, error) {
			folder := dir(o)
			if s == Project {
				folder = filepath.Join(o.Dir, ".codex")
			}
			return codexPlaces(o, folder)
		},
		next: "start codex and trust the hooks with /hooks; until then Codex skips them silently",
	}
}

// codexPlaces: hooks go to hooks.json, unless the user has hooks in
// config.toml and no hooks.json. Codex warns about both in one folder.
func codexPlaces(o Options, folder string) ([]place, error) {
	list, config := filepath.Join(folder, "hooks.json"), filepath.Join(folder, "config.toml")
	h := hooks{host: "codex", at: []string{"hooks"}, nested: true, events: codexEvents(), entry: o.entries("codex", 1)}
	m := o.server()
	own := place{path: list, text: jsonFile{add: []part{h}, all: []part{h}}}
	f := tomlFile{host: "codex"}
	if o.MCP {
		f.add.server = &m
	}
	doc, err := o.readTOML(config)
	if err != nil {
		return nil, err
	}
	if o.exists(list) || !hasInlineHooks(doc) {
		return []place{own, {path: config, idle: !o.MCP, text: f}}, nil
	}
	f.add.hooks = &h
	own.idle = true
	return []place{{path: config, text: f}, own}, nil
}

// hasInlineHooks reports whether config.toml lists hooks. What Codex notes about
// hooks, under hooks.state, is none.
func hasInlineHooks(doc *settings.TOML) bool {
	for i, t := range doc.Tables {
		if i > 0 && len(t.Path) > 1 && t.Path[0] == "hooks" && t.Path[1] != "state" {
			return true
		}
		for _, p := range t.Keys {
			full := extend(t.Path, p.Path...)
			if full[0] == "hooks" && (len(full) < 2 || full[1] != "state") {
				return true
			}
		}
	}
	return false
}

// Trust says what Codex has noted about the user's trust in Amber's hooks. No
// value means that they are trusted: Codex compares digests whose making it does
// not document, so all that can be seen is whether there is a note.
type Trust string

// The states of trust.
const (
	TrustUnknown  Trust = "unknown"  // it could not be looked up
	TrustMissing  Trust = "missing"  // at least one hook has no note; Codex skips it
	TrustRecorded Trust = "recorded" // each hook has a note; whether it still fits is for Codex to say
)

// trust looks up the notes about entries in the file path. They are kept in the
// user's config.toml, whichever file the hooks are in.
func (o Options) trust(path string, found []sighting) Trust {
	doc, err := o.readTOML(filepath.Join(o.folder("CODEX_HOME", ".codex"), "config.toml"))
	if err != nil || len(found) == 0 {
		return TrustUnknown
	}
	for _, s := range found {
		// hooks.EVENT.GROUP.hooks.ENTRY
		key := path + ":" + snake(s.event) + ":" + s.path[2] + ":" + s.path[4]
		if !doc.Names("hooks", "state", key, "trusted_hash") {
			return TrustMissing
		}
	}
	return TrustRecorded
}

// snake writes a name as Codex does in keys.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// switchedOff reports whether config.toml turns hooks off.
func switchedOff(doc *settings.TOML) bool {
	for _, key := range []string{"hooks", "codex_hooks"} {
		for _, t := range doc.Tables {
			for _, p := range t.Keys {
				if full := extend(t.Path, p.Path...); strings.Join(full, ".") == "features."+key && doc.Text(p.Value) == strconv.FormatBool(false) {
					return true
				}
			}
		}
	}
	return false
}
