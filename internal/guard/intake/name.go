package intake

import (
	"fmt"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
)

// builtIn are the rules where no configuration is known: names, the audit log, log files.
var builtIn = sync.OnceValue(redact.New)

// CheckNames refuses names that hold a secret: what each one is, and the name. Records and files are
// found by their names, so these cannot be changed as texts are. Errors: invalid, which does not
// repeat the secret.
func CheckNames(pairs ...string) error { return checkNames(builtIn(), pairs) }

func checkNames(rules *redact.Redactor, pairs []string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if _, found := rules.String(pairs[i+1]); found.Total > 0 {
			return &amber.Error{
				Op: "check " + pairs[i], Kind: amber.KindInvalid,
				Err: fmt.Errorf("the value holds a secret (%s) and names records, so it cannot be redacted: choose another value", Said(found.Counts)),
			}
		}
	}
	return nil
}

// Line returns a line of a log without secrets: what is in it may be a name that was refused for
// holding one.
func Line(s string) string {
	s, _ = builtIn().String(s)
	return s
}
