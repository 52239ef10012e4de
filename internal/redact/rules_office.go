package redact

// officeRules are the tokens of planning, design and customer services.
func officeRules() []rule {
	return []rule{
		prefixed("linear-api-key", alnum, 32, "lin_api_", "lin_oauth_"),
		prefixed("notion-token", alnum, 40, "ntn_", "secret_"),
		shape{
			anchors: []string{"pat"},
			pattern: `pat[0-9A-Za-z]{14}\.[0-9a-f]{64}`,
			edge:    base64Edge,
		}.named("airtable-token"),
		prefixed("figma-token", urlSafe, 36, "figd_", "figo_", "figu_"),
		prefixed("contentful-token", urlSafe, 40, "CFPAT-"),
		prefixed("frameio-token", newClass("0-9A-Za-z_=-"), 60, "fio-u-"),
		prefixed("readme-api-key", lowerAlnum, 60, "rdme_"),
		prefixed("typeform-token", newClass("0-9A-Za-z_.=-"), 40, "tfp_"),
		shape{
			anchors: []string{"pat-"},
			pattern: `pat-(?:na|eu|ap)[0-9]-` + uuid,
		}.named("hubspot-token"),
		shape{
			anchors: []string{"pk_"},
			pattern: `pk_[0-9]{5,10}_[0-9A-Z]{32}`,
		}.named("clickup-token"),
		bare("trello-token", hexAny, 64, "ATTA"),
		shape{
			anchors: []string{"00D"},
			pattern: `00D[0-9A-Za-z]{12,15}![0-9A-Za-z._]{80}`,
			tail:    newClass("0-9A-Za-z._"),
			edge:    base64Edge,
		}.named("salesforce-session"),
		prefixed("adobe-client-secret", hexAny, 32, "p8e-"),
		shape{
			anchors: []string{"WPL_AP1."},
			pattern: `WPL_AP1\.[0-9A-Za-z]{14}`,
			tail:    newClass("0-9A-Za-z.+/=-"),
			body:    14,
		}.named("linkedin-client-secret"),
	}
}
