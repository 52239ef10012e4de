package redact

// vcsRules are the tokens of source hosts.
var vcsRules = []rule{
	{name: "github-token", anchors: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, chars: &wordByte, body: 36},
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
