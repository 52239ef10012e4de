package redact

// vcsRules are the tokens of source hosts.
func vcsRules() []rule {
	return []rule{
		prefixed("github-token", wordByte, 36, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
		prefixed("github-fine-grained-token", wordByte, 59, "github_pat_"),
		shape{
			anchors: []string{
				"glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-",
				"glagent-", "gloas-", "glffct-", "glwt-",
			},
			pattern: `gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct|wt)-[0-9A-Za-z_-]{20}`,
			tail:    dotted,
			body:    20,
		}.named("gitlab-token"),
		prefixed("gitlab-runner-token", urlSafe, 20, "GR1348941"),
		bare("bitbucket-app-password", newClass("0-9A-Za-z=_-"), 24, "ATBB"),
		bare("atlassian-api-token", newClass("0-9A-Za-z=_-"), 60, "ATATT3", "ATCTT3", "ATSTT3"),
		shape{
			anchors: []string{"sgp_"},
			pattern: `sgp_(?:[0-9A-Fa-f]{16}_|local_)?[0-9A-Fa-f]{40}`,
		}.named("sourcegraph-token"),
	}
}
