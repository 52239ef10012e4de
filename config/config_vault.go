package config

// Vault says where documents are backed up, and when a server does so.
type Vault struct {
	URL        string // "" for none
	APIKeyFile string // "" for none
	Label      string
	// Schedule is "off", an interval, or the five fields of cron.
	Schedule     string
	AfterSession bool
	Keep         int // snapshots that stay; 0: all
	Sign         bool
	// Recipients are the public keys that backups are encrypted to; none means
	// that they are not encrypted.
	Recipients []string
}

// ServerVault says what the server's own vault holds its users to. Sizes and
// numbers are of one agent. A rate of 0 is no bound.
type ServerVault struct {
	Enabled        bool
	Provisioned    bool // the quota is told before the first write
	Quota, MaxFile Bytes
	MaxFiles       int
	Extensions     []string // none: names may end with anything

	OperationsPerHour, RequestsPerMinute, SearchesPerHour, ExportsPerHour int

	// Tenants are the rules that tenants have of their own, by name. Use
	// [Config.VaultOf].
	Tenants map[string]VaultOverride
}

// VaultOverride are rules in the place of those of [ServerVault]; nil leaves
// the one that is there.
type VaultOverride struct {
	Enabled        *bool
	Provisioned    *bool
	Quota, MaxFile *Bytes
	MaxFiles       *int
	Extensions     *[]string

	OperationsPerHour, RequestsPerMinute, SearchesPerHour, ExportsPerHour *int
}
