package config

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// Type says how the value of a key is written.
type Type string

// The types of values.
const (
	Bool     Type = "bool"
	Int      Type = "int"      // a whole number from 1
	Duration Type = "duration" // a number with a unit, from 1ms
	Span     Type = "span"     // a duration, or 0
	Size     Type = "size"     // a number with a unit, or of bytes, from 1MiB
	Name     Type = "name"     // a name of a backend, in lower case
	Count    Type = "count"    // a whole number from 0
	Choice   Type = "choice"   // one of the words the key lists
	Path     Type = "path"     // an absolute path; ~/ is the folder of the user
	Location Type = "location" // a path, or the URL of an S3 bucket
	Paths    Type = "paths"    // a list of absolute paths
	Schedule Type = "schedule" // off, an interval, or five fields of cron
	Subject  Type = "subject"  // tokens of letters, digits, _ and -, joined by dots
	Address  Type = "address"  // host:port
	// Scopes is a list of the scopes user and session.
	Scopes Type = "scopes"
	// Recipients is a list of public keys of age or SSH.
	Recipients Type = "recipients"
	// Servers is one URL of a NATS server or several with commas between them.
	// It may hold a password, so what it was set to is not shown.
	Servers Type = "servers"
	// URL is one of https, or of http on this machine, without a user.
	URL   Type = "url"
	Label Type = "label" // a line of text
	// Extensions is a list of endings of names, as .md.
	Extensions Type = "extensions"
	// Patterns is a list of RE2 patterns, one a line where it is not a list.
	Patterns Type = "patterns"
	// Model is builtin, none, or a URL of https, or of http on this machine.
	Model Type = "model"
	// OptionalLabel is a line of text, or nothing.
	OptionalLabel Type = "text"
	Variable      Type = "variable" // the name of an environment variable, or nothing
	Share         Type = "share"    // a number above 0, at most 1
)

// Key is one row of the schema.
type Key struct {
	Path string // "memory.recall.top_k"; where the user chooses a name, "sources.<name>.git"
	Type Type
	// Default is a bool, an int, a float64, a [time.Duration], a [Bytes], a string, a
	// [Secret] or a []string. An empty name means the value of memory.backend, an empty
	// path means none; nil, in a key of a tenant, means the value that holds for all tenants.
	Default any
	Cap     any      // of the type of Default; nil where there is none
	Choices []string // the words a choice may be
	Doc     string   // one line

	set func(*Config, any)
	get func(*Config) any
}

// Named reports whether the path of k has a name in it that the user chooses.
func (k Key) Named() bool { return strings.Contains(k.Path, anyName) }

// Env returns the name of the environment variable that sets k.
func (k Key) Env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(k.Path, ".", envSeparator))
}

const (
	envPrefix    = "AMBER_"
	envSeparator = "__"
	anyName      = "<name>" // the place of a name in the path of a key

	enabledPath       = "memory.enabled"
	backendPath       = "memory.backend"
	recallEnabledPath = "memory.recall.enabled"
	writeEnabledPath  = "memory.write.enabled"
	maxBatchPath      = "memory.write.max_batch_size"
)

func layerPath(l amber.Layer) string { return "memory.layers." + string(l) + ".backend" }

//go:embed keys.txt
var words string // what each key does, a line for each: path, colon, words

// Keys returns the schema: every key there is, section by section.
func Keys() []Key {
	docs := map[string]string{}
	for line := range strings.Lines(words) {
		path, doc, _ := strings.Cut(line, ": ")
		docs[path] = strings.TrimSuffix(doc, "\n")
	}
	keys := schema()
	for i := range keys {
		keys[i].Doc = docs[keys[i].Path]
	}
	return keys
}

// schema is the schema without words, which agent hosts need not wait for.
func schema() []Key {
	keys := slices.Concat(memoryKeys(), writeBackKeys(), searchKeys(), contextKeys(), sqliteKeys(), openVikingKeys(), remoteKeys(), postgresKeys())
	for _, l := range amber.Layers() {
		keys = append(keys, layerKey(l))
	}
	return slices.Concat(keys, queueKeys(), journalKeys(), digestKeys(), snapshotKeys(), trustKeys(), retentionKeys(), eventKeys(), exportKeys(), redactKeys(), syncKeys(), serverKeys(), vaultKeys(), serverVaultKeys(), tenantKeys(anyName), postgresTenantKeys(anyName), sourceKeys(anyName))
}

func memoryKeys() []Key {
	return []Key{
		key(enabledPath, true, false, func(c *Config) *bool { return &c.Memory.Enabled }),
		key(backendPath, "sqlite", "", func(c *Config) *string { return &c.Memory.Backend }),
		key(recallEnabledPath, true, false, func(c *Config) *bool { return &c.Memory.Recall.Enabled }),
		key("memory.recall.agents_ask_all", false, false, func(c *Config) *bool { return &c.Memory.Recall.AgentsAskAll }),
		key("memory.recall.top_k", amber.DefaultTopK, amber.MaxTopK, func(c *Config) *int { return &c.Memory.Recall.TopK }),
		key(writeEnabledPath, true, false, func(c *Config) *bool { return &c.Memory.Write.Enabled }),
		key(maxBatchPath, amber.DefaultBatchSize, amber.MaxBatchSize, func(c *Config) *int { return &c.Memory.Write.MaxBatchSize }),
	}
}

// writeBackKeys say what is learnt without being asked.
func writeBackKeys() []Key {
	return []Key{
		key("memory.write_back.enabled", true, false, func(c *Config) *bool { return &c.Memory.WriteBack.Enabled }),
		key("memory.write_back.learnings", true, false, func(c *Config) *bool { return &c.Memory.WriteBack.Learnings }),
		key("memory.write_back.digests", true, false, func(c *Config) *bool { return &c.Memory.WriteBack.Digests }),
		key("memory.write_back.cases", false, false, func(c *Config) *bool { return &c.Memory.WriteBack.Cases }),
	}
}

func sqliteKeys() []Key {
	return []Key{
		key("memory.backends.sqlite.busy_timeout", 30*time.Second, 10*time.Minute,
			func(c *Config) *time.Duration { return &c.Memory.Backends.SQLite.BusyTimeout }),
		key("memory.backends.sqlite.readers", 0, 64, func(c *Config) *int { return &c.Memory.Backends.SQLite.Readers }).as(Count),
	}
}

func layerKey(l amber.Layer) Key {
	def := ""
	if l == amber.LayerNotes {
		def = "git"
	}
	k := key(layerPath(l), def, "", func(c *Config) *string { return c.Memory.Layers.of(l) })
	k.get = func(c *Config) any { return c.BackendOf(l) }
	return k
}

func queueKeys() []Key {
	return []Key{
		key("control.queue.lease", 30*time.Second, 24*time.Hour, func(c *Config) *time.Duration { return &c.Control.Queue.Lease }),
		key("control.queue.max_in_flight", 32, 10_000, func(c *Config) *int { return &c.Control.Queue.MaxInFlight }),
		key("control.queue.max_queued", 100_000, 10_000_000, func(c *Config) *int { return &c.Control.Queue.MaxQueued }),
		key("control.queue.max_attempts", 5, 100, func(c *Config) *int { return &c.Control.Queue.MaxAttempts }),
	}
}

func journalKeys() []Key {
	return []Key{
		key("journal.flush_interval", 5*time.Millisecond, time.Second, func(c *Config) *time.Duration { return &c.Journal.FlushInterval }),
		key("journal.max_entries", 64, 4096, func(c *Config) *int { return &c.Journal.MaxEntries }),
		key("journal.max_session_bytes", Bytes(64<<20), Bytes(16<<30), func(c *Config) *Bytes { return &c.Journal.MaxSessionBytes }),
		key("journal.max_bytes", Bytes(1<<30), Bytes(1<<40), func(c *Config) *Bytes { return &c.Journal.MaxBytes }),
	}
}

// key makes one row. Most is the cap; the zero value means there is none.
func key[T bool | int | time.Duration | Bytes | string | Insistence | Secret | float64](path string, def, most T, at func(*Config) *T) Key {
	k := Key{
		Path: path, Type: typeOf(def), Default: def,
		set: func(c *Config, v any) { *at(c) = v.(T) },
		get: func(c *Config) any { return *at(c) },
	}
	var none T
	if most != none {
		k.Cap = most
	}
	return k
}

// as returns k with another type than that of its Go value.
func (k Key) as(t Type) Key {
	k.Type = t
	return k
}

// among returns k with words that it may be.
func (k Key) among(words ...Insistence) Key {
	for _, w := range words {
		k.Choices = append(k.Choices, string(w))
	}
	return k
}

// textsKey makes a row that is a list.
func textsKey(t Type, path string, at func(*Config) *[]string) Key {
	return Key{
		Path: path, Type: t, Default: []string(nil),
		set: func(c *Config, v any) { *at(c) = slices.Clone(v.([]string)) },
		get: func(c *Config) any { return *at(c) },
	}
}

func typeOf(v any) Type {
	switch v.(type) {
	case bool:
		return Bool
	case int:
		return Int
	case time.Duration:
		return Duration
	case Bytes:
		return Size
	case Insistence:
		return Choice
	case float64:
		return Share
	case Secret:
		return Servers
	}
	return Name
}
