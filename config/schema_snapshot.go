package config

import (
	"maps"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/timetable"
)

const (
	snapshotEnabledPath = "snapshot.enabled"
	sourcesPath         = "sources"
)

func snapshotKeys() []Key {
	return []Key{
		key(snapshotEnabledPath, true, false,
			"Whether snapshots may be taken. Off, existing snapshots can still be read, restored and deleted.",
			func(c *Config) *bool { return &c.Snapshot.Enabled }),
		key("snapshot.root", "", "",
			"The folder that holds the repositories, one below it for each tenant; or an S3 bucket, as in s3://bucket/prefix.",
			func(c *Config) *string { return &c.Snapshot.Root }).as(Location),
		key("snapshot.lock_timeout", time.Minute, time.Hour,
			"How long a snapshot or restore waits each time that another process is in its way: another snapshot or restore of the same agent, a writer, a drain, a process that works on the repository.",
			func(c *Config) *time.Duration { return &c.Snapshot.LockTimeout }),
		key("snapshot.auto.before_restore", true, false,
			"Whether a restore first takes a snapshot of the agent as it is.",
			func(c *Config) *bool { return &c.Snapshot.Auto.BeforeRestore }),
		insistKey("snapshot.auto.before_consolidation", Try,
			"Whether memory is frozen before it is consolidated. With require, nothing is consolidated when that fails; with try there is a warning.",
			func(c *Config) *Insistence { return &c.Snapshot.Auto.BeforeConsolidation }),
		insistKey("snapshot.auto.before_mutating_tool", Off,
			"Whether memory is frozen before an agent uses a tool that changes something. With require, the tool is not used when that fails; with try there is a warning.",
			func(c *Config) *Insistence { return &c.Snapshot.Auto.BeforeMutatingTool }),
		key("snapshot.auto.schedule", timetable.Off, "",
			"When every agent is frozen: off, so long after its last snapshot (15m, 6h, 1d), or at times of the calendar, written like cron (\"0 3 * * *\": every night at three, local time).",
			func(c *Config) *string { return &c.Snapshot.Auto.Schedule }).as(Schedule),
		key("snapshot.gc.grace", day, 365*day,
			"How long data stays in the repository after gc has found that no snapshot needs it.",
			func(c *Config) *time.Duration { return &c.Snapshot.GC.Grace }),
	}
}

// trustKeys are about who can read snapshots, and who vouches for them.
func trustKeys() []Key {
	return []Key{
		textsKey(Recipients, "snapshot.encryption.recipients",
			"The public keys (age1..., age1pq1..., ssh-ed25519 ..., ssh-rsa ...) that every snapshot is encrypted to, in addition to this home's own key. Without any, snapshots are not encrypted.",
			func(c *Config) *[]string { return &c.Snapshot.Encryption.Recipients }),
		key("snapshot.encryption.identity", "", "",
			"The file that holds the secret key to read encrypted snapshots with. Without it this home's own key is used.",
			func(c *Config) *string { return &c.Snapshot.Encryption.Identity }).as(Path),
		key("snapshot.sign", true, false,
			"Whether snapshots and bundles are signed with this home's key.",
			func(c *Config) *bool { return &c.Snapshot.Sign }),
		key("snapshot.require_signed", false, false,
			"Whether only what a trusted key has signed is restored or imported.",
			func(c *Config) *bool { return &c.Snapshot.RequireSigned }),
	}
}

func exportKeys() []Key {
	review := key("write.review", Insistence(amber.ReviewAgents), "",
		"Which memories wait for the owner (`amber review`) before they are put before an agent that did not ask, among those of global scope and of kind constraint: agents, those that an agent wrote; imports, also those that came from elsewhere; none.",
		func(c *Config) *Insistence { return &c.Write.Review })
	for _, r := range amber.Reviews() {
		review.Choices = append(review.Choices, string(r))
	}
	return []Key{
		key("write.redact", true, false,
			"Whether secrets are removed from text that agents and people write (MCP, HTTP and commands such as remember) before it is stored. The answer says which rules matched.",
			func(c *Config) *bool { return &c.Write.Redact }),
		review,
		key("export.redact", true, false,
			"Whether secrets are removed from data that leaves the machine: as a bundle, or through `sync export`.",
			func(c *Config) *bool { return &c.Export.Redact }),
	}
}

func syncKeys() []Key {
	return []Key{
		key("sync.sign", true, false,
			"Whether what `sync export` writes is signed with this home's key.",
			func(c *Config) *bool { return &c.Sync.Sign }),
		key("sync.require_signed", false, false,
			"Whether `sync import` takes only what a trusted key has signed. Folders of Engram are not signed.",
			func(c *Config) *bool { return &c.Sync.RequireSigned }),
		key("sync.prompts", false, false,
			"Whether `sync export` shares what was typed to an agent: prompts, and the digests Amber makes of sessions. Folders of Engram hold them in any case.",
			func(c *Config) *bool { return &c.Sync.Prompts }),
	}
}

func retentionKeys() []Key {
	return []Key{
		key("snapshot.retention.keep_last", 30, maxKept,
			"How many of the newest snapshots a prune keeps.",
			func(c *Config) *int { return &c.Snapshot.Retention.KeepLast }).as(Count),
		key("snapshot.retention.keep_hourly", 24, maxKept,
			"Of how many hours a prune keeps the last snapshot.",
			func(c *Config) *int { return &c.Snapshot.Retention.KeepHourly }).as(Count),
		key("snapshot.retention.keep_daily", 7, maxKept,
			"Of how many days a prune keeps the last snapshot.",
			func(c *Config) *int { return &c.Snapshot.Retention.KeepDaily }).as(Count),
		key("snapshot.retention.keep_weekly", 8, maxKept,
			"Of how many weeks a prune keeps the last snapshot.",
			func(c *Config) *int { return &c.Snapshot.Retention.KeepWeekly }).as(Count),
		key("snapshot.retention.max_age", 90*day, 36_500*day,
			"Snapshots older than this are pruned even if another rule keeps them; never the last one, never a pinned one.",
			func(c *Config) *time.Duration { return &c.Snapshot.Retention.MaxAge }),
		key("snapshot.retention.interval", time.Hour, 30*day,
			"How often these rules are applied where Amber runs as a server; never more than once a minute.",
			func(c *Config) *time.Duration { return &c.Snapshot.Retention.Interval }),
		key("snapshot.retention.manual", false, false,
			"Whether a server applies these rules also to snapshots that it did not take by itself: labelled ones and those somebody took by hand. Off, they stay until somebody deletes or prunes them.",
			func(c *Config) *bool { return &c.Snapshot.Retention.Manual }),
	}
}

// sourceKeys returns the keys of one source.
func sourceKeys(name string) []Key {
	section := sourcesPath + "." + name + "."
	git := key(section+"git", "", "",
		"A git repository of another tool whose history `snapshot create --source` captures: the folder itself, or its working folder. Files that are not committed are not in it: name them in files. It is only read.", nil).as(Path)
	git.set = func(c *Config, v any) { c.setSource(name, func(f *Foreign) { f.Git = v.(string) }) }
	git.get = func(c *Config) any { return c.Sources[name].Git }
	return []Key{
		git,
		pathsKey(section+"sqlite",
			"SQLite databases of another tool. They are only read.",
			name, func(f *Foreign) *[]string { return &f.SQLite }),
		pathsKey(section+"files",
			"Files and folders of another tool. They are only read.",
			name, func(f *Foreign) *[]string { return &f.Files }),
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

func pathsKey(path, doc, name string, at func(*Foreign) *[]string) Key {
	return Key{
		Path: path, Type: Paths, Default: []string(nil), Doc: doc,
		set: func(c *Config, v any) {
			c.setSource(name, func(f *Foreign) { *at(f) = slices.Clone(v.([]string)) })
		},
		get: func(c *Config) any {
			f := c.Sources[name]
			return *at(&f)
		},
	}
}

func insistKey(path string, def Insistence, doc string, at func(*Config) *Insistence) Key {
	k := key(path, def, "", doc, at)
	k.Choices = []string{string(Require), string(Try), string(Off)}
	return k
}
