package config

import "time"

// Digest says who writes the digests of sessions; by default the rules of Amber do.
type Digest struct {
	Command string // the path of a program
	URL     string // of an OpenAI-compatible endpoint
	Model   string // at that endpoint
	KeyEnv  string // the variable that holds the key of that endpoint
	Timeout time.Duration
}

// digestKeys are about programs and models that write digests.
func digestKeys() []Key {
	return []Key{
		key("digest.command", "", "", func(c *Config) *string { return &c.Digest.Command }).as(Path),
		key("digest.url", "", "", func(c *Config) *string { return &c.Digest.URL }).as(URL),
		key("digest.model", "", "", func(c *Config) *string { return &c.Digest.Model }).as(OptionalLabel),
		key("digest.key_env", "", "", func(c *Config) *string { return &c.Digest.KeyEnv }).as(Variable),
		key("digest.timeout", 30*time.Second, 10*time.Minute, func(c *Config) *time.Duration { return &c.Digest.Timeout }),
	}
}
