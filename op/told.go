package op

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"regexp"
	"sync"

	"github.com/amber-memory/amber"
)

// Told returns an error as a caller may see it. A caller that may see every tenant sees everything. Other
// callers see only the words of its kind where the error may name places of this machine, which may be another
// tenant's; hidden says so, and the log is where the rest belongs. The cause of an internal error is always
// hidden.
func Told(c Caller, err error) (told error, hidden bool) {
	nobody := len(c.Grant.Scopes) == 0
	if err == nil || c.Grant.Tenant == "" && !nobody {
		return err, false
	}
	return Discreet(err)
}

// Discreet is [Told] for a caller of one tenant.
func Discreet(err error) (told error, hidden bool) {
	kind := amber.KindOf(err)
	// Errors of these kinds repeat what the caller asked for, which may look like a place.
	about := kind == amber.KindInvalid || kind == amber.KindNotFound
	if kind != amber.KindInternal && !revealing(err) && (about || !NamesPlace(err.Error()) && !NamesPlace(amber.HintOf(err))) {
		return err, false
	}
	return &amber.Error{Op: "serve request", Kind: kind, Err: plain{kindWords[kind], err}}, true
}

// plain says something in other words. It is still the error it was to those
// who compare.
type plain struct {
	words string
	err   error
}

func (p plain) Error() string        { return p.words }
func (p plain) Is(target error) bool { return errors.Is(p.err, target) }

// kindWords are what an error of a kind says of itself.
var kindWords = map[amber.Kind]string{
	amber.KindInvalid:     "the request is not valid",
	amber.KindNotFound:    "not found",
	amber.KindConflict:    "the record was changed meanwhile",
	amber.KindBusy:        "the record is in use; try again later",
	amber.KindDamaged:     "stored data is damaged; see the log of the server",
	amber.KindUntrusted:   "a signature is bad or missing; see the log of the server",
	amber.KindRefused:     "not allowed; see the log of the server",
	amber.KindQuota:       "a limit is reached; see the log of the server",
	amber.KindCrossTenant: "the record belongs to another tenant or agent",
	amber.KindTooNew:      "stored data was written by a newer Amber",
	amber.KindUnsupported: "this server does not support the operation",
	amber.KindUnreachable: "a service that the server needs does not answer; try again later",
	amber.KindInternal:    "the server failed; see its log",
}

// revealing reports whether an error is made of others that name files or hosts,
// or that went wrong inside beside what it says first.
func revealing(err error) bool {
	switch e := err.(type) { //nolint:errorlint // each error of the tree is looked at
	case nil:
		return false
	case *amber.Error:
		return NamesPlace(e.ID) || NamesPlace(e.Hint) || revealing(e.Err)
	case *fs.PathError, *os.LinkError, *os.SyscallError, *net.OpError, *url.Error:
		return true
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			if revealing(one) || amber.KindOf(one) == amber.KindInternal {
				return true
			}
		}
		return false
	}
	return revealing(errors.Unwrap(err))
}

// place finds the beginning of an absolute path, on whatever system it is one:
// where it ends cannot be told, since names may hold spaces.
var place = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^\w./\\])/[^\s/]|file:/|(?:^|[^\w])[a-z]:[\\/]|\\\\[^\s\\]`)
})

// Unplaced stands in a report for a text that names a place of this machine.
const Unplaced = "(it names a place of the server, which is not told)"

// NamesPlace reports whether a text seems to name a file of this machine.
func NamesPlace(text string) bool { return place().MatchString(text) }
