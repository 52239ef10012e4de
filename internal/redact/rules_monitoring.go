package redact

// monitoringRules are the keys of monitoring, analytics and incident services.
func monitoringRules() []rule {
	return []rule{
		prefixed("new-relic-key", newClass("0-9A-Za-z-"), 19, "NRAK-", "NRII-", "NRJS-", "NRRA-", "NRIQ-"),
		prefixed("sentry-token", newClass("0-9A-Za-z+/=_"), 60, "sntrys_", "sntryu_"),
		shape{
			anchors: []string{"glsa_"},
			pattern: `glsa_[0-9A-Za-z]{32}_[0-9A-Fa-f]{8}`,
		}.named("grafana-service-account-token"),
		prefixed("grafana-cloud-token", base64Pad, 40, "glc_"),
		bare("grafana-api-key", base64Pad, 60, "eyJrIjoi"),
		prefixed("posthog-personal-key", alnum, 40, "phx_", "phs_"),
		shape{
			anchors: []string{"dt0c01.", "dt0s01.", "dt0s02.", "dt0s16."},
			pattern: `dt0[cs][0-9]{2}\.[0-9A-Z]{8,24}\.[0-9A-Z]{60}`,
			tail:    upperAlnum,
		}.named("dynatrace-token"),
		prefixed("honeycomb-key", alnum, 48, "hcaik_", "hcxik_", "hcxmk_", "hcamk_"),
		shape{
			anchors: []string{"xaat-", "xapt-"},
			pattern: `xa[ap]t-` + uuid,
		}.named("axiom-token"),
		shape{
			anchors: []string{"api-", "sdk-"},
			pattern: `(?:api|sdk)-` + uuid,
		}.named("launchdarkly-key"),
		prefixed("rootly-token", hexLower, 60, "rootly_"),
		shape{
			anchors: []string{"_mmk"},
			pattern: `[0-9A-Za-z]{6}_[0-9A-Za-z]{29}_mmk`,
			lead:    wordByte,
			back:    36,
			reach:   4,
		}.named("maxmind-license-key"),
		shape{
			anchors: []string{"sk.eyJ"},
			pattern: `sk\.eyJ[0-9A-Za-z_-]{20,200}\.[0-9A-Za-z_-]{20}`,
			tail:    urlSafe,
		}.named("mapbox-secret-token"),
	}
}
