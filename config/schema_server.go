package config

import (
	"time"

	"github.com/amber-memory/amber/internal/base/events"
)

func eventKeys() []Key {
	return []Key{
		key("events.mutation_enabled", true, false, func(c *Config) *bool { return &c.Events.MutationEnabled }),
		key("events.mutation_prefix", events.DefaultMutationPrefix, "", func(c *Config) *string { return &c.Events.MutationPrefix }).as(Subject),
		key("events.lifecycle_prefix", events.DefaultLifecyclePrefix, "", func(c *Config) *string { return &c.Events.LifecyclePrefix }).as(Subject),
		key("events.nats_url", Secret(""), "", func(c *Config) *Secret { return &c.Events.NATSURL }),
		key("events.nats_creds", "", "", func(c *Config) *string { return &c.Events.NATSCreds }).as(Path),
		key("events.jetstream", false, false, func(c *Config) *bool { return &c.Events.JetStream }),
	}
}

func serverKeys() []Key {
	return []Key{
		key("server.listen", "127.0.0.1:7411", "", func(c *Config) *string { return &c.Server.Listen }).as(Address),
		key("server.tls_cert", "", "", func(c *Config) *string { return &c.Server.TLSCert }).as(Path),
		key("server.tls_key", "", "", func(c *Config) *string { return &c.Server.TLSKey }).as(Path),
		key("server.max_body", Bytes(8<<20), Bytes(64<<20), func(c *Config) *Bytes { return &c.Server.MaxBody }),
		key("server.memory", Bytes(64<<20), Bytes(1<<40), func(c *Config) *Bytes { return &c.Server.Memory }),
		key("server.replica.name", "", "", func(c *Config) *string { return &c.Server.Replica.Name }).as(OptionalLabel),
		key("server.replica.lease", 30*time.Second, 10*time.Minute, func(c *Config) *time.Duration { return &c.Server.Replica.Lease }),
	}
}
