package config

import (
	"slices"

	"github.com/amber-memory/amber/internal/base/timetable"
)

// tenantsPath is the section where tenants have rules of their own.
const tenantsPath = "server.vault.tenants"

// maxRate and maxVaultFiles cap what the server counts and lists in one go.
const (
	maxRate       = 1_000_000
	maxVaultFiles = 100_000
)

// vaultExtensions are those that the first service of this kind takes.
func vaultExtensions() []string {
	return []string{".md", ".txt", ".html", ".json", ".yaml", ".yml", ".toml", ".xml", ".csv", ".cfg", ".ini", ".conf", ".env", ".log"}
}

// vaultKeys are about the vault that documents are backed up to.
func vaultKeys() []Key {
	return []Key{
		key("vault.url", "", "", func(c *Config) *string { return &c.Vault.URL }).as(URL),
		key("vault.api_key_file", "", "", func(c *Config) *string { return &c.Vault.APIKeyFile }).as(Path),
		key("vault.label", "default", "", func(c *Config) *string { return &c.Vault.Label }).as(Label),
		key("vault.schedule", timetable.Off, "", func(c *Config) *string { return &c.Vault.Schedule }).as(Schedule),
		key("vault.after_session", false, false, func(c *Config) *bool { return &c.Vault.AfterSession }),
		key("vault.keep", 5, maxKept, func(c *Config) *int { return &c.Vault.Keep }).as(Count),
		key("vault.sign", false, false, func(c *Config) *bool { return &c.Vault.Sign }),
		textsKey(Recipients, "vault.recipients", func(c *Config) *[]string { return &c.Vault.Recipients }),
	}
}

// vaultRule is a row that the server has for all, and again for each tenant.
type vaultRule struct {
	Key
	// of returns the row for one tenant.
	of func(path, tenant string) Key
}

// rule makes a rule. At is where the value for all tenants is, own is where a tenant has its own
// value; nil there means that the tenant has none.
func rule[T bool | int | Bytes | []string](k Key, at func(*ServerVault) *T, own func(*VaultOverride) **T) vaultRule {
	k.set = func(c *Config, v any) { *at(&c.Server.Vault) = v.(T) }
	k.get = func(c *Config) any { return *at(&c.Server.Vault) }
	return vaultRule{Key: k, of: func(path, tenant string) Key {
		k := k
		k.Path, k.Default = path, nil
		k.set = func(c *Config, v any) {
			c.setTenant(tenant, func(o *VaultOverride) {
				*own(o) = nil
				if v, ok := v.(T); ok {
					*own(o) = &v
				}
			})
		}
		k.get = func(c *Config) any {
			o := c.Server.Vault.Tenants[tenant]
			if v := *own(&o); v != nil {
				return *v
			}
			return *at(&c.Server.Vault)
		}
		return k
	}}
}

// vaultRules are what the server's own vault holds its users to.
func vaultRules() []vaultRule {
	return []vaultRule{
		rule(Key{Path: "enabled", Type: Bool, Default: true},
			func(v *ServerVault) *bool { return &v.Enabled }, func(o *VaultOverride) **bool { return &o.Enabled }),
		rule(Key{Path: "quota", Type: Size, Default: Bytes(10 << 20), Cap: Bytes(1 << 40)},
			func(v *ServerVault) *Bytes { return &v.Quota }, func(o *VaultOverride) **Bytes { return &o.Quota }),
		rule(Key{Path: "provisioned", Type: Bool, Default: false},
			func(v *ServerVault) *bool { return &v.Provisioned }, func(o *VaultOverride) **bool { return &o.Provisioned }),
		rule(Key{Path: "max_file", Type: Size, Default: Bytes(1 << 20), Cap: Bytes(16 << 20)},
			func(v *ServerVault) *Bytes { return &v.MaxFile }, func(o *VaultOverride) **Bytes { return &o.MaxFile }),
		rule(Key{Path: "max_files", Type: Int, Default: 1000, Cap: maxVaultFiles},
			func(v *ServerVault) *int { return &v.MaxFiles }, func(o *VaultOverride) **int { return &o.MaxFiles }),
		rule(Key{Path: "extensions", Type: Extensions, Default: vaultExtensions()},
			func(v *ServerVault) *[]string { return &v.Extensions }, func(o *VaultOverride) **[]string { return &o.Extensions }),
		rule(Key{Path: "operations_per_hour", Type: Count, Default: 60, Cap: maxRate},
			func(v *ServerVault) *int { return &v.OperationsPerHour }, func(o *VaultOverride) **int { return &o.OperationsPerHour }),
		rule(Key{Path: "requests_per_minute", Type: Count, Default: 120, Cap: maxRate},
			func(v *ServerVault) *int { return &v.RequestsPerMinute }, func(o *VaultOverride) **int { return &o.RequestsPerMinute }),
		rule(Key{Path: "searches_per_hour", Type: Count, Default: 120, Cap: maxRate},
			func(v *ServerVault) *int { return &v.SearchesPerHour }, func(o *VaultOverride) **int { return &o.SearchesPerHour }),
		rule(Key{Path: "exports_per_hour", Type: Count, Default: 10, Cap: maxRate},
			func(v *ServerVault) *int { return &v.ExportsPerHour }, func(o *VaultOverride) **int { return &o.ExportsPerHour }),
	}
}

func serverVaultKeys() []Key {
	var keys []Key
	for _, r := range vaultRules() {
		k := r.Key
		k.Path = "server.vault." + k.Path
		keys = append(keys, k)
	}
	return keys
}

// tenantKeys returns the keys of one tenant.
func tenantKeys(name string) []Key {
	var keys []Key
	for _, r := range vaultRules() {
		keys = append(keys, r.of(join(join(tenantsPath, name), r.Path), name))
	}
	return keys
}

// setTenant changes what one tenant has of its own.
func (c *Config) setTenant(name string, change func(*VaultOverride)) {
	c.Server.Vault.Tenants = changed(c.Server.Vault.Tenants, name, change)
}

// VaultOf returns what holds for the vaults of one tenant: its own rules, and
// those for all where it has none. Tenants is nil in it.
func (c Config) VaultOf(tenant string) ServerVault {
	v := c.Server.Vault
	o := v.Tenants[tenant]
	v.Tenants, v.Extensions = nil, slices.Clone(v.Extensions)
	over(&v.Enabled, o.Enabled)
	over(&v.Provisioned, o.Provisioned)
	over(&v.Quota, o.Quota)
	over(&v.MaxFile, o.MaxFile)
	over(&v.MaxFiles, o.MaxFiles)
	over(&v.Extensions, o.Extensions)
	over(&v.OperationsPerHour, o.OperationsPerHour)
	over(&v.RequestsPerMinute, o.RequestsPerMinute)
	over(&v.SearchesPerHour, o.SearchesPerHour)
	over(&v.ExportsPerHour, o.ExportsPerHour)
	return v
}

// over puts a value in the place of another, if there is one.
func over[T any](at *T, own *T) {
	if own != nil {
		*at = *own
	}
}
