package config_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

// A text that goes to an API of embeddings is memory. So a URL that other machines can listen to is
// refused, and so is a URL that holds a password.
func TestSearchModels(t *testing.T) {
	t.Parallel()
	for value, ok := range map[string]bool{
		"builtin": true, "none": true, "http://127.0.0.1:11434/v1": true, "http://localhost/v1/embeddings": true, "https://host.example/v1": true,
		"": false, "Builtin": false, "minilm": false, "http://host.example/v1": false, "https://ann:hunter2@host.example/v1": false,
		"https://host.example/v1?key=hunter2": false, "ftp://127.0.0.1/v1": false, "https://host.example/" + strings.Repeat("x", 5000): false,
	} {
		l, err := config.Load(config.Input{Flags: map[string]string{"search.model": value}})
		must.Hold(t, (err == nil) == ok && (!ok || l.Config.Search.Model == value), "%.60q: got %q, %v", value, l.Config.Search.Model, err)
		if err != nil {
			must.Kind(t, value, err, amber.KindInvalid, "search.model")
			must.Hides(t, value, err.Error(), "ann:hunter2")
		}
	}
}

// A person may write the key where the name of its variable belongs.
func TestKeysOfModelsAreNotRepeated(t *testing.T) {
	t.Parallel()
	_, err := config.Load(config.Input{Flags: map[string]string{"search.key_env": "sk-hunter2"}})
	must.Kind(t, "a key", err, amber.KindInvalid, "search.key_env", "the name of an environment variable")
	must.Hides(t, "a key", err.Error(), "hunter2")
}
