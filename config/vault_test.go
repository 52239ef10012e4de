package config_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestVaultURL(t *testing.T) {
	t.Parallel()
	for value, ok := range map[string]bool{
		"https://thecolony.ai/api/v1":  true,
		"https://vault.example:8443":   true,
		"http://127.0.0.1:7411/api/v1": true,
		"http://[::1]:7411/api/v1":     true,
		"http://localhost:7411/api/v1": true,

		"http://thecolony.ai/api/v1":      false,
		"http://127.0.0.1.example/api/v1": false,
		"http://localhost.example":        false,
		"http://10.0.0.1":                 false,
		"https://ann:hunter2@host/api":    false,
		"https://ann@host/api":            false,
		"https:///api":                    false,
		"https:host":                      false,
		"https://host/?key=1":             false,
		"https://host/?":                  false,
		"https://host/#x":                 false,
		"https://host:99999":              false,
		"https://a b/":                    false,
		"https://host/a\nb":               false,
		"ftp://host":                      false,
		"host":                            false,
		"/srv/vault":                      false,

		"https://host/" + strings.Repeat("x", 4096): false,
	} {
		l, err := config.Load(config.Input{Flags: map[string]string{"vault.url": value}})
		if (err == nil) != ok || ok && l.Config.Vault.URL != value {
			t.Errorf("%s: got %q, %v", value, l.Config.Vault.URL, err)
		}
		if err != nil {
			wantError(t, value, err, amber.KindInvalid, "vault.url")
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s repeats the password: %v", value, err)
			}
		}
	}
}

func TestVaultLabel(t *testing.T) {
	t.Parallel()
	for value, ok := range map[string]bool{
		"x": true, "Ann's notes": true, "日本": true, " padded ": true, strings.Repeat("x", 64): true,
		"": false, " ": false, "a\nb": false, "a\x1b[0m": false, "\xff": false, strings.Repeat("x", 65): false, "AGE-SECRET-KEY-1": false,
	} {
		l, err := config.Load(config.Input{Flags: map[string]string{"vault.label": value}})
		if (err == nil) != ok || ok && l.Config.Vault.Label != strings.TrimSpace(value) {
			t.Errorf("%q: got %q, %v", value, l.Config.Vault.Label, err)
		}
	}
}

// TestTenantsHaveRulesOfTheirOwn reads what tenants have of their own, with what
// holds for all beneath it.
func TestTenantsHaveRulesOfTheirOwn(t *testing.T) {
	t.Parallel()
	in := fileInput(`server:
  vault:
    quota: 20MiB
    operations_per_hour: 30
    tenants:
      acme:
        quota: 100MiB
        operations_per_hour: 0
        extensions: []
      empty:
      closed: {enabled: false, extensions: [.md]}
`)
	in.Environ = []string{"AMBER_SERVER__VAULT__TENANTS__ACME__MAX_FILES=5", "AMBER_SERVER__VAULT__EXPORTS_PER_HOUR=1"}
	l := load(t, in)

	all := config.Default().Server.Vault
	all.Quota, all.OperationsPerHour, all.ExportsPerHour = 20<<20, 30, 1
	acme, closed := all, all
	acme.Quota, acme.OperationsPerHour, acme.MaxFiles, acme.Extensions = 100<<20, 0, 5, []string{}
	closed.Enabled, closed.Extensions = false, []string{".md"}
	for tenant, want := range map[string]config.ServerVault{"acme": acme, "closed": closed, "empty": all, "default": all} {
		must.Equal(t, tenant, l.Config.VaultOf(tenant), want)
	}
	var values []config.Value
	for _, v := range l.Values {
		if strings.HasPrefix(v.Key, "server.vault.tenants.acme.") {
			values = append(values, v)
		}
	}
	want := []config.Value{
		{Key: "server.vault.tenants.acme.extensions", Value: []string{}, Source: config.FromFile, Default: all.Extensions},
		{Key: "server.vault.tenants.acme.max_files", Value: 5, Source: config.FromEnvironment, Default: 1000},
		{Key: "server.vault.tenants.acme.operations_per_hour", Value: 0, Source: config.FromFile, Default: 30},
		{Key: "server.vault.tenants.acme.quota", Value: "100MiB", Source: config.FromFile, Default: "20MiB"},
	}
	must.Equal(t, "values", values, want)
}

func TestVaultRulesReject(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		words      []string
	}{
		{"name in capitals", "tenants: {Acme: {quota: 1MiB}}", []string{`"Acme"`, "server.vault.tenants", "a-z"}},
		{"pattern as a name", "tenants: {<name>: {quota: 1MiB}}", []string{`"<name>"`}},
		{"key without a name", "tenants: {quota: 1MiB}", []string{"server.vault.tenants.quota", "section"}},
		{"unknown key", "tenants: {acme: {size: 1MiB}}", []string{`"size"`, "server.vault.tenants.acme", "quota"}},
		{"text for a list", "extensions: .md", []string{"server.vault.extensions", "a list"}},
		{"list in a list", "extensions: [[.md]]", []string{"server.vault.extensions", "a list"}},
		{"no dot", "extensions: [md]", []string{"server.vault.extensions", `"md"`}},
		{"two dots", "extensions: [.tar.gz]", []string{"server.vault.extensions", `".tar.gz"`}},
		{"capitals", "extensions: [.MD]", []string{"server.vault.extensions", `".MD"`}},
		{"path", "extensions: [./x]", []string{"server.vault.extensions"}},
		{"twice", "tenants: {acme: {extensions: [.md, .md]}}", []string{"server.vault.tenants.acme.extensions", "twice"}},
		{"many", "extensions: [" + strings.Repeat(".md, ", 257) + "]", []string{"server.vault.extensions", "257", "256"}},
		{"less than nothing", "exports_per_hour: -1", []string{"server.vault.exports_per_hour", "0 or more"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(fileInput("server:\n  vault:\n    " + tt.text + "\n"))
			wantError(t, tt.name, err, amber.KindInvalid, append(tt.words, testPath)...)
		})
	}
}

// TestTenantsOfAConfigAreChecked covers a configuration that was never loaded.
func TestTenantsOfAConfigAreChecked(t *testing.T) {
	t.Parallel()
	small, many := config.Bytes(1), 1<<30
	for name, o := range map[string]config.VaultOverride{"../up": {}, "a": {Quota: &small}, "b": {Extensions: &[]string{"md"}}} {
		c := config.Default()
		c.Server.Vault.Tenants = map[string]config.VaultOverride{name: o}
		wantError(t, name, newHouse(t).Check(c), amber.KindInvalid, "server.vault.tenants")
	}
	h, c := newHouse(t), config.Default()
	c.Server.Vault.Tenants = map[string]config.VaultOverride{"acme": {MaxFiles: &many}}
	r := must.Get(h.Resolve(t.Context(), c))(t)
	if got := h.sqlite.configs[0].VaultOf("acme").MaxFiles; got != 100_000 || len(r.Report.Clamped) != 1 {
		t.Errorf("a number above its cap is %d, clamped %v", got, r.Report.Clamped)
	}
	if *c.Server.Vault.Tenants["acme"].MaxFiles != many {
		t.Error("the configuration that was given has changed")
	}
}
