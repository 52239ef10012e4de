package config

import "github.com/amber-memory/amber"

// RemoteBackend is the backend of a home that keeps only the crash journal: its memory lies
// on a server of Amber.
const RemoteBackend = "remote"

const remoteURLPath = "memory.backends.remote.url"

// Remote holds the options of the remote backend.
type Remote struct {
	URL       string // of the server; "" for none
	TokenFile string // holds the token to show; "" for none
	CA        string // certificates to trust, in PEM; "" for those of the system
}

func remoteKeys() []Key {
	of := func(c *Config) *Remote { return &c.Memory.Backends.Remote }
	return []Key{
		key(remoteURLPath, "", "", func(c *Config) *string { return &of(c).URL }).as(URL),
		key("memory.backends.remote.token_file", "", "", func(c *Config) *string { return &of(c).TokenFile }).as(Path),
		key("memory.backends.remote.ca", "", "", func(c *Config) *string { return &of(c).CA }).as(Path),
	}
}

// IsEdge reports whether the home keeps only the crash journal, and memory lies on a server.
func (c Config) IsEdge() bool { return c.Memory.Backend == RemoteBackend }

// checkEdge checks that memory lies on a server as a whole or not at all: what the journal is
// drained into is one transaction. Errors: invalid.
func (c Config) checkEdge() error {
	const op = "choose backend"
	for _, l := range amber.Layers() {
		switch name := c.BackendOf(l); {
		case c.IsEdge() && name != RemoteBackend:
			return amber.Errorf(amber.KindInvalid, op, layerPath(l), "the backend is %s, want none: with %s: %s every layer lies on the server", quote(name), backendPath, RemoteBackend)
		case !c.IsEdge() && name == RemoteBackend:
			return amber.Errorf(amber.KindInvalid, op, layerPath(l), "%q is not for one layer, but for all of them", RemoteBackend).
				WithHint("set " + backendPath + " to " + RemoteBackend)
		}
	}
	if c.IsEdge() && c.Memory.Backends.Remote.URL == "" {
		return amber.Errorf(amber.KindInvalid, op, remoteURLPath, "the URL of the server is not set, and %s is %s", backendPath, RemoteBackend).
			WithHint("set " + remoteURLPath + ", as in https://memory.example.org")
	}
	return nil
}
