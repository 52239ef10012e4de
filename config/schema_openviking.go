package config

import (
	"fmt"
	"time"

	"github.com/amber-memory/amber"
)

// OpenViking holds the options of the openviking backend.
type OpenViking struct {
	Primary string // the backend that keeps everything
	URL     string // of the server
	// KeyFile holds the key of the server, KeysDir a file for each agent: <tenant>/<agent>.
	KeyFile, KeysDir string
	Mode             Insistence
	MinScore         float64
	Fusion           Insistence
	FindTimeout      time.Duration // how long a question waits for the server
	ConnectTimeout   time.Duration
	RequestTimeout   time.Duration
	FeedBudget       time.Duration // how long the command line feeds the server before a question
	Include          []string      // scopes that leave this machine too
	AnyVersion       bool          // take a server of a version that was not tested
}

// How a server knows who asks.
const (
	VikingKey     Insistence = "api_key" // one key for each agent
	VikingTrusted Insistence = "trusted" // a gateway vouches for two headers
	VikingDev     Insistence = "dev"     // the server asks for nothing; loopback only
)

// How what a server has found is put among what the primary has found.
const (
	FusionBehind Insistence = "behind" // behind what the primary is sure of
	FusionRRF    Insistence = "rrf"    // by reciprocal rank
)

// DefaultVikingURL is where a server listens by convention.
const DefaultVikingURL = "http://127.0.0.1:1933"

func openVikingKeys() []Key {
	const at = "memory.backends.openviking."
	of := func(c *Config) *OpenViking { return &c.Memory.Backends.OpenViking }
	primary := key(at+"primary", "sqlite", "",
		"The backend that keeps everything. The OpenViking server is fed from it and is never the only copy.",
		func(c *Config) *string { return &of(c).Primary })
	mode := key(at+"mode", VikingKey, "",
		"How the server knows who asks: api_key, by a key for each agent; trusted, by two headers behind a gateway; dev, not at all, which is for a server on this machine without a key.",
		func(c *Config) *Insistence { return &of(c).Mode })
	mode.Choices = []string{string(VikingKey), string(VikingTrusted), string(VikingDev)}
	fusion := key(at+"fusion", FusionBehind, "",
		"Where hits of the server stand: behind, after those that the primary is sure of and in turn with the others; rrf, both lists are merged by their ranks.",
		func(c *Config) *Insistence { return &of(c).Fusion })
	fusion.Choices = []string{string(FusionBehind), string(FusionRRF)}
	return []Key{
		primary,
		key(at+"url", DefaultVikingURL, "",
			"The address of the OpenViking server. Plain http is for this machine only.",
			func(c *Config) *string { return &of(c).URL }).as(URL),
		key(at+"key_file", "", "",
			"A file with the key of the server, for a home with one agent. It must be readable by the user alone.",
			func(c *Config) *string { return &of(c).KeyFile }).as(Path),
		key(at+"keys_dir", "", "",
			"A folder with a key for each agent: <tenant>/<agent>. `amber index provision` makes them. Empty: keys/openviking in the home.",
			func(c *Config) *string { return &of(c).KeysDir }).as(Path),
		mode,
		key(at+"min_score", 0.75, 0,
			"The score of the server from which a hit counts. It depends on the model of the server: `amber index calibrate` shows what to choose.",
			func(c *Config) *float64 { return &of(c).MinScore }),
		fusion,
		key(at+"find_timeout", 800*time.Millisecond, time.Minute,
			"How long a question waits for the server. When the time is up, the answer is that of the primary and says so.",
			func(c *Config) *time.Duration { return &of(c).FindTimeout }),
		key(at+"connect_timeout", time.Second, time.Minute,
			"How long a connection to the server may take.",
			func(c *Config) *time.Duration { return &of(c).ConnectTimeout }),
		key(at+"request_timeout", 5*time.Second, 10*time.Minute,
			"How long a request to the server may take. One that writes many files has 50 ms more for each.",
			func(c *Config) *time.Duration { return &of(c).RequestTimeout }),
		key(at+"feed_budget", 300*time.Millisecond, 10*time.Minute,
			"How long the command line feeds the server before a question. A server of Amber feeds it all the time; `amber index sync` feeds it to the end. 0: not at all.",
			func(c *Config) *time.Duration { return &of(c).FeedBudget }).as(Span),
		textsKey(Scopes, at+"include",
			"Scopes that leave this machine too: user, session. Memories of these scopes are only sent to a server on this machine otherwise.",
			func(c *Config) *[]string { return &of(c).Include }),
		key(at+"any_version", false, false,
			"Whether a server of a version that was not tested is fed and asked.",
			func(c *Config) *bool { return &of(c).AnyVersion }),
	}
}

// checkScopes checks a list of scopes that may be included.
func (k Key) checkScopes(list []string) error {
	return k.checkEach(list, len(amber.Scopes()), "scopes", func(s string) error {
		if s == string(amber.ScopeUser) || s == string(amber.ScopeSession) {
			return nil
		}
		return fmt.Errorf("%s must hold user and session, not %s", k.Path, quote(s))
	})
}
