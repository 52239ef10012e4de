package config

import (
	"maps"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/timetable"
	"github.com/amber-memory/amber/wire"
)

const (
	snapshotEnabledPath = "snapshot.enabled"
	sourcesPath         = "sources"
)

func snapshotKeys() []Key {
	return []Key{
		key(snapshotEnabledPath, true, false, func(c *Config) *bool { return &c.Snapshot.Enabled }),
		key("snapshot.root", "", "", func(c *Config) *string { return &c.Snapshot.Root }).as(Location),
		key("snapshot.lock_timeout", time.Minute, time.Hour, func(c *Config) *time.Duration { return &c.Snapshot.LockTimeout }),
		key("snapshot.auto.before_restore", true, false, func(c *Config) *bool { return &c.Snapshot.Auto.BeforeRestore }),
		insistKey("snapshot.auto.before_consolidation", Try, func(c *Config) *Insistence { return &c.Snapshot.Auto.BeforeConsolidation }),
		insistKey("snapshot.auto.before_mutating_tool", Off, func(c *Config) *Insistence { return &c.Snapshot.Auto.BeforeMutatingTool }),
		key("snapshot.auto.schedule", timetable.Off, "", func(c *Config) *string { return &c.Snapshot.Auto.Schedule }).as(Schedule),
		key("snapshot.gc.grace", day, 365*day, func(c *Config) *time.Duration { return &c.Snapshot.GC.Grace }),
	}
}

// trustKeys are about who can read snapshots, and who vouches for them.
func trustKeys() []Key {
	return []Key{
		textsKey(Recipients, "snapshot.encryption.recipients", func(c *Config) *[]string { return &c.Snapshot.Encryption.Recipients }),
		key("snapshot.encryption.identity", "", "", func(c *Config) *string { return &c.Snapshot.Encryption.Identity }).as(Path),
		key("snapshot.sign", true, false, func(c *Config) *bool { return &c.Snapshot.Sign }),
		key("snapshot.require_signed", false, false, func(c *Config) *bool { return &c.Snapshot.RequireSigned }),
	}
}

func exportKeys() []Key {
	review := key("write.review", Insistence(amber.ReviewAgents), "", func(c *Config) *Insistence { return &c.Write.Review })
	for _, r := range amber.Reviews() {
		review = review.among(Insistence(r))
	}
	return []Key{
		key("write.redact", true, false, func(c *Config) *bool { return &c.Write.Redact }),
		review,
		key("export.redact", true, false, func(c *Config) *bool { return &c.Export.Redact }),
	}
}

func syncKeys() []Key {
	return []Key{
		key("sync.sign", true, false, func(c *Config) *bool { return &c.Sync.Sign }),
		key("sync.require_signed", false, false, func(c *Config) *bool { return &c.Sync.RequireSigned }),
		key("sync.prompts", false, false, func(c *Config) *bool { return &c.Sync.Prompts }),
	}
}

func retentionKeys() (keys []Key) {
	for i, rule := range new(wire.PruneRequest).Rules() {
		keys = append(keys, key("snapshot.retention.keep_"+rule.Name, rule.Usual, maxKept,
			func(c *Config) *int { return c.Snapshot.Retention.Rules.Rules()[i].Count }).as(Count))
	}
	return append(keys,
		key("snapshot.retention.max_age", 90*day, 36_500*day, func(c *Config) *time.Duration { return &c.Snapshot.Retention.Rules.MaxAge }),
		key("snapshot.retention.interval", time.Hour, 30*day, func(c *Config) *time.Duration { return &c.Snapshot.Retention.Interval }),
		key("snapshot.retention.manual", false, false, func(c *Config) *bool { return &c.Snapshot.Retention.Manual }),
	)
}

// sourceKeys returns the keys of one source.
func sourceKeys(name string) []Key {
	section := sourcesPath + "." + name + "."
	git := key(section+"git", "", "", nil).as(Path)
	git.set = func(c *Config, v any) { c.setSource(name, func(f *Foreign) { f.Git = v.(string) }) }
	git.get = func(c *Config) any { return c.Sources[name].Git }
	return []Key{
		git,
		pathsKey(section+"sqlite", name, func(f *Foreign) *[]string { return &f.SQLite }),
		pathsKey(section+"files", name, func(f *Foreign) *[]string { return &f.Files }),
	}
}

// setSource changes one source.
func (c *Config) setSource(name string, change func(*Foreign)) {
	c.Sources = changed(c.Sources, name, change)
}

// changed returns m with one entry changed. Configurations are copied freely,
// so a map is never changed in place.
func changed[T any](m map[string]T, name string, change func(*T)) map[string]T {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]T{}
	}
	v := m[name]
	change(&v)
	m[name] = v
	return m
}

// maxKept caps the rules of a retention: more snapshots than that make every
// listing slow.
const maxKept = 10_000

func pathsKey(path, name string, at func(*Foreign) *[]string) Key {
	return Key{
		Path: path, Type: Paths, Default: []string(nil),
		set: func(c *Config, v any) {
			c.setSource(name, func(f *Foreign) { *at(f) = slices.Clone(v.([]string)) })
		},
		get: func(c *Config) any {
			f := c.Sources[name]
			return *at(&f)
		},
	}
}

func insistKey(path string, def Insistence, at func(*Config) *Insistence) Key {
	return key(path, def, "", at).among(Require, Try, Off)
}
