package redact

// registryRules are the tokens of package and image registries.
func registryRules() []rule {
	return []rule{
		prefixed("npm-token", alnum, 36, "npm_"),
		prefixed("pypi-token", urlSafe, 50, "pypi-AgE"),
		prefixed("rubygems-token", hexLower, 48, "rubygems_"),
		shape{
			anchors: []string{"cio"},
			pattern: `cio[0-9A-Za-z]{32}`,
			edge:    base64Edge,
			tail:    alnum,
			body:    32,
			accept:  mixed,
		}.named("crates-token"),
		shape{
			anchors: []string{"oy2"},
			pattern: `oy2[0-9a-z]{43}`,
			edge:    base64Edge,
			body:    43,
			accept:  mixed,
		}.named("nuget-api-key"),
		prefixed("docker-token", urlSafe, 24, "dckr_pat_", "dckr_oat_"),
		prefixed("clojars-token", lowerAlnum, 60, "CLOJARS_"),
		bare("artifactory-api-key", alnum, 64, "AKCp"),
		bare("artifactory-reference-token", alnum, 58, "cmVmdGtu"),
	}
}
