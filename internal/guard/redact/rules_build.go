package redact

// buildRules are the tokens of build, quality and delivery services.
var buildRules = []rule{
	{name: "buildkite-token", anchors: []string{"bkua_", "bkct_", "bkaj_", "bkpt_"}, chars: &alnum, body: 36},
	{
		name:    "circleci-token",
		anchors: []string{"CCIPAT_", "CCIPRJ_"},
		pattern: `CCIP(?:AT|RJ)_[0-9A-Za-z]{16,30}_[0-9a-f]{40}`,
		least:   64,
	},
	{name: "sonarqube-token", anchors: []string{"sqp_", "squ_", "sqa_"}, chars: &hexLower, body: 40},
	{name: "prefect-api-key", anchors: []string{"pnu_", "pnb_"}, chars: &alnum, body: 36},
	{name: "scalingo-token", anchors: []string{"tk-us-"}, chars: &urlSafe, body: 44},
	{name: "infracost-api-key", anchors: []string{"ico-"}, chars: &alnum, body: 32},
	{name: "octopus-deploy-api-key", anchors: []string{"API-"}, chars: &upperAlnum, body: 26, accept: mixed},
	{
		name:    "harness-api-key",
		anchors: []string{"pat.", "sat."},
		pattern: `[ps]at\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z]{24}\.[0-9A-Za-z]{20}`,
		least:   72,
		tail:    &alnum,
	},
	{
		name:    "postman-api-key",
		anchors: []string{"PMAK-"},
		pattern: `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`,
		least:   64,
	},
	{
		name:    "defined-networking-key",
		anchors: []string{"dnkey-"},
		pattern: `dnkey-[0-9A-Za-z_=-]{26}-[0-9A-Za-z_=-]{52}`,
		least:   85,
	},
	{name: "settlemint-token", anchors: []string{"sm_aat_", "sm_pat_", "sm_sat_"}, chars: &alnum, body: 16},
	{
		name:    "wakatime-api-key",
		anchors: []string{"waka_"},
		pattern: `waka_` + uuid,
		least:   41,
	},
}
