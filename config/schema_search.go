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
		key("search.model", ModelBuiltin, "",
			"The model that finds texts by what they mean: builtin is the one in the program, none searches by words alone, and a URL is an API of embeddings as OpenAI and Ollama have it, as in http://127.0.0.1:11434/v1. With a URL the text of memories, sessions and questions is sent there. Plain http is for this machine only. A program that was built without a model takes builtin for none.",
			func(c *Config) *string { return &c.Search.Model }).as(Model),
		key("search.model_name", "", "",
			"The name of the model that the API of search.model is asked for.",
			func(c *Config) *string { return &c.Search.ModelName }).as(OptionalLabel),
		key("search.key_env", "", "",
			"The name of the environment variable that holds the key of the API of search.model.",
			func(c *Config) *string { return &c.Search.KeyEnv }).as(Variable),
		key("search.budget", 2*time.Second, maxSearchBudget,
			"How long a drain of the journal or an import may make vectors at its end. What is left is done by a server, by the process behind hooks (context.stay), by the next of them, or by `amber index sync`; until then it is found by its words.",
			func(c *Config) *time.Duration { return &c.Search.Budget }),
	}
}

var validVariable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
})

// validModel reports whether s is a model, or the place of one.
func validModel(s string) bool { return s == ModelBuiltin || s == ModelNone || validURL(s) }
