package config

import (
	"regexp"
	"sync"
	"time"
)

// Search says how what was written is found again.
type Search struct {
	// Model makes the vectors that say what a text means: ModelBuiltin, ModelNone or the URL
	// of an API of embeddings.
	Model     string
	ModelName string // that the API is asked for; "" leaves it to its server
	KeyEnv    string // the variable of the environment with the key of the API; "": none is sent
	Budget    time.Duration
}

// The models that are no URL.
const (
	ModelBuiltin = "builtin"
	ModelNone    = "none"
)

const maxSearchBudget = 10 * time.Minute

func searchKeys() []Key {
	return []Key{
		key("search.model", ModelBuiltin, "", func(c *Config) *string { return &c.Search.Model }).as(Model),
		key("search.model_name", "", "", func(c *Config) *string { return &c.Search.ModelName }).as(OptionalLabel),
		key("search.key_env", "", "", func(c *Config) *string { return &c.Search.KeyEnv }).as(Variable),
		key("search.budget", 2*time.Second, maxSearchBudget, func(c *Config) *time.Duration { return &c.Search.Budget }),
	}
}

var validVariable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
})

// validModel reports whether s is a model, or the place of one.
func validModel(s string) bool { return s == ModelBuiltin || s == ModelNone || validURL(s) }
