package redact

// buildRules are the tokens of build, quality and delivery services.
func buildRules() []rule {
	return []rule{
		prefixed("buildkite-token", alnum, 36, "bkua_", "bkct_", "bkaj_", "bkpt_"),
		shape{
			anchors: []string{"CCIPAT_", "CCIPRJ_"},
			pattern: `CCIP(?:AT|RJ)_[0-9A-Za-z]{16,30}_[0-9a-f]{40}`,
		}.named("circleci-token"),
		prefixed("sonarqube-token", hexLower, 40, "sqp_", "squ_", "sqa_"),
		prefixed("prefect-api-key", alnum, 36, "pnu_", "pnb_"),
		prefixed("scalingo-token", urlSafe, 44, "tk-us-"),
		prefixed("infracost-api-key", alnum, 32, "ico-"),
		shape{
			anchors: []string{"API-"},
			pattern: `API-[0-9A-Z]{26}`,
			tail:    upperAlnum,
			body:    26,
			accept:  mixed,
		}.named("octopus-deploy-api-key"),
		shape{
			anchors: []string{"pat.", "sat."},
			pattern: `[ps]at\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z]{24}\.[0-9A-Za-z]{20}`,
			tail:    alnum,
		}.named("harness-api-key"),
		shape{
			anchors: []string{"PMAK-"},
			pattern: `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`,
		}.named("postman-api-key"),
		shape{
			anchors: []string{"dnkey-"},
			pattern: `dnkey-[0-9A-Za-z_=-]{26}-[0-9A-Za-z_=-]{52}`,
		}.named("defined-networking-key"),
		prefixed("settlemint-token", alnum, 16, "sm_aat_", "sm_pat_", "sm_sat_"),
		shape{
			anchors: []string{"waka_"},
			pattern: `waka_` + uuid,
		}.named("wakatime-api-key"),
	}
}
