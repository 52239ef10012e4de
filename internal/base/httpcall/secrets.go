package httpcall

import (
	"slices"
	"strings"
	"sync"
)

// maxSecrets is how many secrets are kept out of errors: the last ones that were used.
const maxSecrets = 16

// Secrets are the keys that a client sent or was given. They are inside of functions, so that no way of printing a
// client shows one: fmt follows pointers for some verbs. Safe for concurrent use.
type Secrets struct {
	Hide  func(secret string)      // keeps a secret out of texts
	Scrub func(text string) string // takes the secrets out of a text: a server may repeat them
}

// NewSecrets returns Secrets that hide nothing yet.
func NewSecrets() Secrets {
	var mu sync.Mutex
	var hidden []string // the newest at the end
	return Secrets{
		Hide: func(secret string) {
			mu.Lock()
			defer mu.Unlock()
			hidden = append(slices.DeleteFunc(hidden, func(s string) bool { return s == secret }), secret)
			hidden = hidden[max(0, len(hidden)-maxSecrets):]
		},
		Scrub: func(text string) string {
			mu.Lock()
			defer mu.Unlock()
			for _, secret := range hidden {
				text = strings.ReplaceAll(text, secret, "***")
			}
			return text
		},
	}
}
