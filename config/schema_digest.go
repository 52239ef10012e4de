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
		key("digest.command", "", "",
			"The program that writes the digest of a session. It reads the session as JSON on its standard input and prints items as JSON. Without one, rules write the digest.",
			func(c *Config) *string { return &c.Digest.Command }).as(Path),
		key("digest.url", "", "",
			"The OpenAI-compatible endpoint whose model writes the digest of a session, as in http://127.0.0.1:11434/v1. What was said in the session is sent there. digest.command goes first.",
			func(c *Config) *string { return &c.Digest.URL }).as(URL),
		key("digest.model", "", "",
			"The name of the model at digest.url.",
			func(c *Config) *string { return &c.Digest.Model }).as(OptionalLabel),
		key("digest.key_env", "", "",
			"The name of the environment variable that holds the key of digest.url. Without one, no key is sent.",
			func(c *Config) *string { return &c.Digest.KeyEnv }).as(Variable),
		key("digest.timeout", 30*time.Second, 10*time.Minute,
			"How long the program or the model may take for one session. After that, rules write the digest.",
			func(c *Config) *time.Duration { return &c.Digest.Timeout }),
	}
}
