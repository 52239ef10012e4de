package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// RedactDigest tells rules apart that take other secrets out of what leaves.
func (c Config) RedactDigest() string {
	return digestOf(struct {
		On     bool
		Redact Redact
	}{c.Export.Redact, c.Redact})
}

// ContextDigest tells configurations apart that put different things before an agent, or
// look for them in another store or by another model.
func (c Config) ContextDigest() string {
	c.Context.Stay = 0 // no answer depends on it
	return digestOf(struct {
		Memory  Memory
		Search  Search
		Context Context
	}{c.Memory, c.Search, c.Context})
}

func digestOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil { // no such value exists; then nothing is equal
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
