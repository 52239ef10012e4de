package config

import (
	"time"

	"github.com/amber-memory/amber/internal/base/events"
)

func eventKeys() []Key {
	return []Key{
		key("events.mutation_enabled", true, false,
			"Whether changes of memory are published as events. Events never contain the text of a memory.",
			func(c *Config) *bool { return &c.Events.MutationEnabled }),
		key("events.mutation_prefix", events.DefaultMutationPrefix, "",
			"The prefix of the subjects of changes of memory; tenant and agent follow.",
			func(c *Config) *string { return &c.Events.MutationPrefix }).as(Subject),
		key("events.lifecycle_prefix", events.DefaultLifecyclePrefix, "",
			"The prefix of the subjects of events of snapshots; tenant, agent and event follow.",
			func(c *Config) *string { return &c.Events.LifecyclePrefix }).as(Subject),
		key("events.nats_url", Secret(""), "",
			"The NATS server where a server of Amber publishes events, as in nats://host:4222, or several with commas between them. A name and a password in it are not shown.",
			func(c *Config) *Secret { return &c.Events.NATSURL }),
		key("events.nats_creds", "", "",
			"The file of credentials to log in to NATS with.",
			func(c *Config) *string { return &c.Events.NATSCreds }).as(Path),
		key("events.jetstream", false, false,
			"Whether the NATS server keeps events (JetStream) until the subscribers have received them. Off, a subscriber that is not connected misses them.",
			func(c *Config) *bool { return &c.Events.JetStream }),
	}
}

func serverKeys() []Key {
	return []Key{
		key("server.listen", "127.0.0.1:7411", "",
			"The address where a server of Amber listens. Beyond this machine the server requires tokens and TLS, or a proxy that ends TLS.",
			func(c *Config) *string { return &c.Server.Listen }).as(Address),
		key("server.tls_cert", "", "",
			"The file of the certificate, in PEM, that the server shows.",
			func(c *Config) *string { return &c.Server.TLSCert }).as(Path),
		key("server.tls_key", "", "",
			"The file of the key of that certificate, in PEM.",
			func(c *Config) *string { return &c.Server.TLSKey }).as(Path),
		key("server.max_body", Bytes(8<<20), Bytes(64<<20),
			"How large a request may be.",
			func(c *Config) *Bytes { return &c.Server.MaxBody }),
		key("server.memory", Bytes(64<<20), Bytes(1<<40),
			"How much memory requests and their answers hold at one time, until each answer was taken. One caller gets at most half of it, one tenant three quarters; a request for which there is no room within 10 seconds is answered with 503. It is at least what two requests of the largest size need.",
			func(c *Config) *Bytes { return &c.Server.Memory }),
		key("server.replica.name", "", "",
			"The name of a server among those of one PostgreSQL database, as /health lists them. Without one it is that of the machine.",
			func(c *Config) *string { return &c.Server.Replica.Name }).as(OptionalLabel),
		key("server.replica.lease", 30*time.Second, 10*time.Minute,
			"How long a server of a PostgreSQL database counts as alive after it was heard of, and how long work is its own; the same for all servers of the database. At least 1s.",
			func(c *Config) *time.Duration { return &c.Server.Replica.Lease }),
	}
}
