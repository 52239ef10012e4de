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
	return []Key{
		key(at+"primary", "sqlite", "", func(c *Config) *string { return &of(c).Primary }),
		key(at+"url", DefaultVikingURL, "", func(c *Config) *string { return &of(c).URL }).as(URL),
		key(at+"key_file", "", "", func(c *Config) *string { return &of(c).KeyFile }).as(Path),
		key(at+"keys_dir", "", "", func(c *Config) *string { return &of(c).KeysDir }).as(Path),
		key(at+"mode", VikingKey, "", func(c *Config) *Insistence { return &of(c).Mode }).among(VikingKey, VikingTrusted, VikingDev),
		key(at+"min_score", 0.75, 0, func(c *Config) *float64 { return &of(c).MinScore }),
		key(at+"fusion", FusionBehind, "", func(c *Config) *Insistence { return &of(c).Fusion }).among(FusionBehind, FusionRRF),
		key(at+"find_timeout", 800*time.Millisecond, time.Minute, func(c *Config) *time.Duration { return &of(c).FindTimeout }),
		key(at+"connect_timeout", time.Second, time.Minute, func(c *Config) *time.Duration { return &of(c).ConnectTimeout }),
		key(at+"request_timeout", 5*time.Second, 10*time.Minute, func(c *Config) *time.Duration { return &of(c).RequestTimeout }),
		key(at+"feed_budget", 300*time.Millisecond, 10*time.Minute, func(c *Config) *time.Duration { return &of(c).FeedBudget }).as(Span),
		textsKey(Scopes, at+"include", func(c *Config) *[]string { return &of(c).Include }),
		key(at+"any_version", false, false, func(c *Config) *bool { return &of(c).AnyVersion }),
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
