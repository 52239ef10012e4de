package redact

// registryRules are the tokens of package and image registries.
var registryRules = []rule{
	{name: "npm-token", anchors: []string{"npm_"}, chars: &alnum, body: 36},
	{name: "pypi-token", anchors: []string{"pypi-AgE"}, chars: &urlSafe, body: 50},
	{name: "rubygems-token", anchors: []string{"rubygems_"}, chars: &hexLower, body: 48},
	{name: "crates-token", anchors: []string{"cio"}, chars: &alnum, body: 32, edge: base64Edge, accept: mixed},
	{name: "nuget-api-key", anchors: []string{"oy2"}, chars: &lowerAlnum, body: 43, edge: base64Edge, accept: mixed},
	{name: "docker-token", anchors: []string{"dckr_pat_", "dckr_oat_"}, chars: &urlSafe, body: 24},
	{name: "clojars-token", anchors: []string{"CLOJARS_"}, chars: &lowerAlnum, body: 60},
	{name: "artifactory-api-key", anchors: []string{"AKCp"}, chars: &alnum, body: 56, edge: base64Edge},
	{name: "artifactory-reference-token", anchors: []string{"cmVmdGtu"}, chars: &alnum, body: 50, edge: base64Edge},
}
