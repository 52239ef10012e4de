package config

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Config holds the resolved value of every key. Start from [Default] or
// [Load]; the zero value names no backend and is invalid. Its fields follow
// the paths of the keys.
type Config struct {
	Memory  Memory
	Search  Search
	Context Context
	Control Control
	Journal Journal
	Digest  Digest
	// Snapshot and Sources configure how agents are frozen, and what else is
	// frozen with them, by name.
	Snapshot Snapshot
	Sources  map[string]Foreign
	Events   Events
	Write    Writing
	Redact   Redact
	Export   Export
	Sync     Sync
	Server   Server
	Vault    Vault
	// Clamped lists the values that were above their cap, by key. Load fills
	// it in; Resolve adds what it had to lower itself.
	Clamped []amber.Clamp
}

// Memory configures the memory layers.
type Memory struct {
	Enabled bool
	Backend string // serves every layer that does not name its own
	Recall  Recall
	Write   Write
	// WriteBack says what is learnt without being asked.
	WriteBack WriteBack
	Backends  Backends
	Layers    Layers
}

// Recall configures searching in long-term memory.
type Recall struct {
	Enabled bool
	TopK    int // hits where a query names no limit
	// AgentsAskAll lets `amber ask` in the shell of an agent ask everything.
	AgentsAskAll bool
}

// Write configures writing to long-term memory.
type Write struct {
	Enabled      bool
	MaxBatchSize int // memories one batch may hold
}

// WriteBack configures what is learnt without being asked.
type WriteBack struct {
	Enabled   bool
	Learnings bool // what prompts and answers say is to be remembered
	Digests   bool // what a session amounts to, when it has ended
	Cases     bool // goal and answer of every turn that succeeded
}

// Context configures what is put before an agent that did not ask for it.
type Context struct {
	Budget   time.Duration // how long a hook may look for it
	Stay     time.Duration // how long a process stays behind hooks to answer the next ones; 0: none does
	MaxBytes int           // how large it may be
	MinScore float64       // how relevant to a prompt it has to be
	Trust    Insistence    // ContextDerived or ContextOwn
}

// The memories that automatic context may hold.
const (
	ContextDerived Insistence = "derived" // also what was found in sessions of this home
	ContextOwn     Insistence = "own"     // only what was written here or signed by a trusted key
)

// Backends holds the options of each backend.
type Backends struct {
	SQLite     SQLite
	OpenViking OpenViking
	Remote     Remote
	Postgres   Postgres
}

// SQLite holds the options of the sqlite backend.
type SQLite struct {
	BusyTimeout time.Duration // how long a write waits for another process
	Readers     int           // connections that read at one time
}

// Layers names the backend of each layer; an empty one follows
// Memory.Backend.
type Layers struct {
	LongTerm, Turns, Loops, Sessions, Notes, Control string
}

// Control configures the control plane.
type Control struct {
	Queue amber.QueueOptions
}

// Journal configures the crash journal.
type Journal struct {
	FlushInterval   time.Duration // how long appends may wait for one another
	MaxEntries      int           // appends that may share a sync
	MaxSessionBytes Bytes
	MaxBytes        Bytes // of all sessions
}

// Snapshot configures how agents are frozen and brought back.
type Snapshot struct {
	Enabled     bool
	Root        string        // the folder of the repository; "" means the one in the home
	LockTimeout time.Duration // how long an operation waits for another one
	Auto        Auto
	Encryption  Encryption
	// Sign signs snapshots with this home's key. RequireSigned refuses to
	// restore what no trusted key has signed.
	Sign, RequireSigned bool
	Retention           Retention
	GC                  GC
}

// Encryption says who can read snapshots.
type Encryption struct {
	// Recipients are the public keys that snapshots are encrypted to; none means
	// that they are not encrypted.
	Recipients []string
	Identity   string // the file of the secret key to read them with; "" means this home's own
}

// Auto says which snapshots Amber takes of its own accord.
type Auto struct {
	BeforeRestore       bool
	BeforeConsolidation Insistence
	BeforeMutatingTool  Insistence
	// Schedule is "off", an interval, or the five fields of cron.
	Schedule string
}

// Insistence says how much a snapshot matters to what comes after it.
type Insistence string

// The degrees of insistence.
const (
	Require Insistence = "require" // without the snapshot it is not done
	Try     Insistence = "try"     // without it there is a warning
	Off     Insistence = "off"     // none is taken
)

// Retention says which snapshots are kept: those that one rule keeps and that
// are not too old. A rule of 0 keeps none.
type Retention struct {
	Rules    wire.PruneRequest // the rules, and how old a snapshot may be
	Interval time.Duration     // how often it is applied
	Manual   bool              // whether it is about snapshots that Amber did not take by itself, too
}

// Snapshots that Amber took before a restore are many and soon of no use: the
// last few are kept, and those of the last days.
const (
	KeepSafety = 5
	SafetyAge  = 7 * 24 * time.Hour
)

// PruneRequest asks to prune by the configuration.
func (r Retention) PruneRequest() wire.PruneRequest {
	p := r.Rules
	p.KeepSafety, p.SafetyAge, p.AutomaticOnly = KeepSafety, SafetyAge, !r.Manual
	return p
}

// GC configures the collection of what no snapshot needs.
type GC struct {
	Grace time.Duration // how long it stays after that was noticed
}

// Events says which events are published, and where.
type Events struct {
	MutationEnabled bool
	// The prefixes begin the subjects of changes and of what happens to
	// snapshots.
	MutationPrefix, LifecyclePrefix string
	// NATSURL names the servers that events are published to, separated by
	// commas; "" for none.
	NATSURL   Secret
	NATSCreds string // the file to log in there with; "" for none
	JetStream bool   // the servers keep the events
}

// Writing says how memory is taken from agents and people.
type Writing struct {
	Redact bool       // secrets are taken out before anything is stored
	Review Insistence // an amber.Review: which memories wait for the owner
}

// Redact has the user's own rules for secrets, and the exceptions to all rules.
type Redact struct {
	Rules      []string // each "NAME = PATTERN"
	Exceptions []string // patterns
}

// Export says how memory leaves the machine.
type Export struct {
	Redact bool // secrets are taken out
}

// Sync says how memory is shared through git.
type Sync struct {
	// Sign signs what is exported with this home's key. RequireSigned imports
	// only what a trusted key has signed. Prompts shares what was typed to an
	// agent.
	Sign, RequireSigned, Prompts bool
}

// Server says how Amber serves others.
type Server struct {
	Listen string // host:port
	// TLSCert and TLSKey are files in PEM; "" for none.
	TLSCert, TLSKey string
	MaxBody         Bytes // of one request
	Memory          Bytes // of all requests together
	Replica         ServerReplica
	Vault           ServerVault
}

// ServerReplica is a server as one of several on a PostgreSQL database.
type ServerReplica struct {
	Name  string        // for those who list servers; "": that of the machine
	Lease time.Duration // how long it is believed to live after it was heard of
}

// Foreign is memory of another tool. It is only ever read.
type Foreign struct {
	Git    string   // a repository or its working folder; "" for none
	SQLite []string // databases
	Files  []string // files and folders
}

// Default returns the configuration without any setting of a user.
func Default() Config { return defaults(Keys()) }

func defaults(keys []Key) Config {
	var c Config
	for _, k := range keys {
		if !k.Named() {
			k.set(&c, k.Default)
		}
	}
	return c
}

// keys returns the schema with the names that c gives to its sources and tenants.
func (c Config) keys() []Key {
	keys := slices.DeleteFunc(schema(), Key.Named)
	for _, name := range slices.Sorted(maps.Keys(c.Sources)) {
		keys = append(keys, sourceKeys(name)...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Server.Vault.Tenants)) {
		keys = append(keys, tenantKeys(name)...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Memory.Backends.Postgres.Tenants)) {
		keys = append(keys, postgresTenantKeys(name)...)
	}
	return keys
}

// BackendOf returns the name of the backend that serves layer l, which is one
// of [amber.Layers].
func (c Config) BackendOf(l amber.Layer) string {
	if name := *c.Memory.Layers.of(l); name != "" && !c.notesElsewhere(l) {
		return name
	}
	return c.Memory.Backend
}

// notesElsewhere reports whether the notes, which lie in a folder under git unless something else is
// said, lie on a server or in a database with the rest.
func (c Config) notesElsewhere(l amber.Layer) bool {
	return l == amber.LayerNotes && c.IsElsewhere() && c.Memory.Layers.Notes == "git"
}

// backendKey returns the key that decides what serves layer l.
func (c Config) backendKey(l amber.Layer) string {
	if *c.Memory.Layers.of(l) != "" && !c.notesElsewhere(l) {
		return layerPath(l)
	}
	return backendPath
}

// of returns the field of layer l. A layer of the root package without a
// field here is a mistake of this package.
func (ls *Layers) of(l amber.Layer) *string {
	switch l {
	case amber.LayerLongTerm:
		return &ls.LongTerm
	case amber.LayerTurns:
		return &ls.Turns
	case amber.LayerLoops:
		return &ls.Loops
	case amber.LayerSessions:
		return &ls.Sessions
	case amber.LayerNotes:
		return &ls.Notes
	case amber.LayerControl:
		return &ls.Control
	}
	panic("config: unknown layer " + string(l))
}

// bounded returns c with every number above its cap lowered and listed in
// Clamped. A value that breaks a rule is an error of kind invalid.
func (c Config) bounded() (Config, error) {
	clamped := slices.Clone(c.Clamped)
	for section, names := range map[string][]string{
		sourcesPath: slices.Collect(maps.Keys(c.Sources)), tenantsPath: slices.Collect(maps.Keys(c.Server.Vault.Tenants)),
		postgresTenantsPath: slices.Collect(maps.Keys(c.Memory.Backends.Postgres.Tenants)),
	} {
		for _, name := range names {
			if !validName().MatchString(name) {
				return c, invalid("check configuration", "", badName(section, name).Error())
			}
		}
	}
	for _, k := range c.keys() {
		v := k.get(&c)
		if err := k.check(v); err != nil {
			return c, invalid("check configuration", "", err.Error())
		}
		if low, clamp, over := k.clamp(v); over {
			k.set(&c, low)
			clamped = append(clamped, clamp)
		}
	}
	slices.SortStableFunc(clamped, func(a, b amber.Clamp) int { return strings.Compare(a.Key, b.Key) })
	c.Clamped = clamped
	return c, nil
}

func invalid(op, where, message string) error {
	return amber.Errorf(amber.KindInvalid, op, where, "%s", message)
}
