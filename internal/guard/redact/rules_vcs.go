package redact

// vcsRules are the tokens of source hosts.
var vcsRules = []rule{
	// Tokens have 36 bytes behind the prefix; those of some servers, and those that were cut, have fewer.
	{name: "github-token", anchors: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, chars: &wordByte, body: 26},
	{name: "github-fine-grained-token", anchors: []string{"github_pat_"}, chars: &wordByte, body: 59},
	{
		name: "gitlab-token",
		anchors: []string{
			"glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-",
			"glagent-", "gloas-", "glffct-", "glwt-",
		},
		chars: &urlSafe,
		body:  20,
		tail:  &dotted,
	},
	{
		// 84 bytes: 52 random ones, the service's facts about the token, and AZDO from the 77th on. The facts may be
		// all zeros, so the random bytes alone are judged.
		name:    "azure-devops-token",
		anchors: []string{"AZDO"},
		pattern: `[0-9A-Za-z]{76}AZDO[0-9A-Za-z]{4}`,
		least:   84,
		lead:    &alnum,
		back:    76,
		accept:  startsVaried,
	},
	{name: "gitlab-runner-token", anchors: []string{"GR1348941"}, chars: &urlSafe, body: 20},
	{name: "bitbucket-app-password", anchors: []string{"ATBB"}, chars: &urlPad, body: 24, edge: base64Edge},
	{name: "atlassian-api-token", anchors: []string{"ATATT3", "ATCTT3", "ATSTT3"}, chars: &urlPad, body: 60, edge: base64Edge},
	{
		name:    "sourcegraph-token",
		anchors: []string{"sgp_"},
		pattern: `sgp_(?:[0-9A-Fa-f]{16}_|local_)?[0-9A-Fa-f]{40}`,
		least:   44,
	},
}
