package redact

// monitoringRules are the keys of monitoring, analytics and incident services.
var monitoringRules = []rule{
	{name: "new-relic-key", anchors: []string{"NRAK-", "NRII-", "NRJS-", "NRRA-", "NRIQ-"}, chars: &alnumDash, body: 19},
	{name: "sentry-token", anchors: []string{"sntrys_", "sntryu_"}, chars: &base64Word, body: 60},
	{
		name:    "grafana-service-account-token",
		anchors: []string{"glsa_"},
		pattern: `glsa_[0-9A-Za-z]{32}_[0-9A-Fa-f]{8}`,
		least:   46,
	},
	{name: "grafana-cloud-token", anchors: []string{"glc_"}, chars: &base64Pad, body: 40},
	{name: "grafana-api-key", anchors: []string{"eyJrIjoi"}, chars: &base64Pad, body: 60, edge: base64Edge},
	{name: "posthog-personal-key", anchors: []string{"phx_", "phs_"}, chars: &alnum, body: 40},
	{
		name:    "dynatrace-token",
		anchors: []string{"dt0c01.", "dt0s01.", "dt0s02.", "dt0s16."},
		pattern: `dt0[cs][0-9]{2}\.[0-9A-Z]{8,24}\.[0-9A-Z]{60}`,
		least:   76,
		tail:    &upperAlnum,
	},
	{name: "honeycomb-key", anchors: []string{"hcaik_", "hcxik_", "hcxmk_", "hcamk_"}, chars: &alnum, body: 48},
	{
		name:    "axiom-token",
		anchors: []string{"xaat-", "xapt-"},
		pattern: `xa[ap]t-` + uuid,
		least:   41,
	},
	{
		name:    "launchdarkly-key",
		anchors: []string{"api-", "sdk-"},
		pattern: `(?:api|sdk)-` + uuid,
		least:   40,
	},
	{name: "rootly-token", anchors: []string{"rootly_"}, chars: &hexLower, body: 60},
	{
		name:    "maxmind-license-key",
		anchors: []string{"_mmk"},
		pattern: `[0-9A-Za-z]{6}_[0-9A-Za-z]{29}_mmk`,
		least:   40,
		lead:    &wordByte,
		back:    36,
		reach:   4,
	},
	{
		name:    "mapbox-secret-token",
		anchors: []string{"sk.eyJ"},
		pattern: `sk\.eyJ[0-9A-Za-z_-]{20,200}\.[0-9A-Za-z_-]{20}`,
		least:   47,
		tail:    &urlSafe,
	},
}
