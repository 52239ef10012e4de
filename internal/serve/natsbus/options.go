package natsbus

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/words"
)

const (
	// DefaultStream is the name of the stream unless the options name another.
	DefaultStream = "AMBER"
	// DefaultWait bounds one publication.
	DefaultWait = 5 * time.Second

	defaultReconnectWait = 500 * time.Millisecond
	// dialWait bounds one attempt to connect to one server.
	dialWait = 2 * time.Second

	maxURLBytes   = 4096
	maxCredsBytes = 64 << 10
)

// Options say which servers to publish to, and how.
type Options struct {
	// URL of a server, or several with commas between them: nats://, tls://,
	// ws:// or wss://, and a name and password or a token where they are
	// needed.
	URL       string
	CredsFile string // to log in with; read again at every login. "" for none
	// JetStream keeps events in a stream. Without it a client that does not listen
	// at that moment misses them.
	JetStream bool
	Stream    string // "": DefaultStream
	// Prefixes of the subjects that a new stream keeps; none: those of
	// [events.DefaultMutationPrefix] and [events.DefaultLifecyclePrefix].
	Prefixes []string
	// Wait bounds one publication where its context does not end before; 0:
	// DefaultWait.
	Wait time.Duration
	// ReconnectWait is the pause between attempts to connect again, to which
	// up to as much is added by chance; 0: half a second.
	ReconnectWait time.Duration
	Log           *slog.Logger // nil: silent
}

const openOp = "open event bus"

var (
	validStream = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	})
	validTokens = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	})
)

// withDefaults fills in what was left out and checks the rest. Errors: invalid;
// not_found and refused for the file of credentials.
func (o Options) withDefaults() (Options, error) {
	o.Stream = cmp.Or(o.Stream, DefaultStream)
	if len(o.Prefixes) == 0 {
		o.Prefixes = []string{events.DefaultMutationPrefix, events.DefaultLifecyclePrefix}
	}
	if o.Wait <= 0 {
		o.Wait = DefaultWait
	}
	if o.ReconnectWait <= 0 {
		o.ReconnectWait = defaultReconnectWait
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	switch {
	case !validStream().MatchString(o.Stream):
		return o, invalid("the name of the stream is not valid: want 1 to 64 letters, digits, _ and -")
	}
	for _, p := range o.Prefixes {
		if !validSubject(p) {
			return o, invalid("a prefix of subjects is not valid: want letters, digits, _ and - joined by dots")
		}
	}
	if _, err := parseServers(o.URL); err != nil {
		return o, err
	}
	return o, o.checkCreds()
}

func invalid(why string) error { return amber.Errorf(amber.KindInvalid, openOp, "", "%s", why) }

// checkCreds looks at the file when the bus is opened, while a person is there to read the error.
func (o Options) checkCreds() error {
	if o.CredsFile == "" {
		return nil
	}
	_, err := fsx.ReadFile(fsx.OS(), o.CredsFile, maxCredsBytes)
	if e, ok := errors.AsType[*amber.Error](diskerr.Given(openOp, o.CredsFile, err)); ok {
		return e.WithHint("events.nats_creds names the file of credentials")
	}
	return nil
}

// parseServers takes the list of servers apart. The error never repeats it.
func parseServers(list string) ([]*url.URL, error) {
	if list == "" || len(list) > maxURLBytes {
		return nil, invalid(fmt.Sprintf("the URL has %s, not 1 to %d", words.Count(len(list), "byte", "bytes"), maxURLBytes))
	}
	var servers []*url.URL
	for i, text := range strings.Split(list, ",") {
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
			return nil, invalid(fmt.Sprintf("URL number %d is not valid, want a URL as in nats://host:4222", i+1))
		}
		switch u.Scheme {
		case "nats", "tls", "ws", "wss":
		default:
			return nil, invalid(fmt.Sprintf("URL number %d has another scheme, want nats://, tls://, ws:// or wss://", i+1))
		}
		servers = append(servers, u)
	}
	return servers, nil
}

// maxSubject bounds a subject in bytes: a prefix, a tenant, an agent and an event.
const maxSubject = 512

func validSubject(s string) bool { return len(s) <= maxSubject && validTokens().MatchString(s) }
