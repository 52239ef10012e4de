package redact

// officeRules are the tokens of planning, design and customer services.
var officeRules = []rule{
	{name: "linear-api-key", anchors: []string{"lin_api_", "lin_oauth_"}, chars: &alnum, body: 32},
	{name: "notion-token", anchors: []string{"ntn_", "secret_"}, chars: &alnum, body: 40},
	{
		name:    "airtable-token",
		anchors: []string{"pat"},
		pattern: `pat[0-9A-Za-z]{14}\.[0-9a-f]{64}`,
		least:   82,
		edge:    base64Edge,
	},
	{name: "figma-token", anchors: []string{"figd_", "figo_", "figu_"}, chars: &urlSafe, body: 36},
	{name: "contentful-token", anchors: []string{"CFPAT-"}, chars: &urlSafe, body: 40},
	{name: "frameio-token", anchors: []string{"fio-u-"}, chars: &urlPad, body: 60},
	{name: "readme-api-key", anchors: []string{"rdme_"}, chars: &lowerAlnum, body: 60},
	{name: "typeform-token", anchors: []string{"tfp_"}, chars: &tokenPad, body: 40},
	{
		name:    "hubspot-token",
		anchors: []string{"pat-"},
		pattern: `pat-(?:na|eu|ap)[0-9]-` + uuid,
		least:   44,
	},
	{
		name:    "clickup-token",
		anchors: []string{"pk_"},
		pattern: `pk_[0-9]{5,10}_[0-9A-Z]{32}`,
		least:   41,
	},
	{name: "trello-token", anchors: []string{"ATTA"}, chars: &hexAny, body: 64, edge: base64Edge},
	{
		name:    "salesforce-session",
		anchors: []string{"00D"},
		pattern: `00D[0-9A-Za-z]{12,15}![0-9A-Za-z._]{80}`,
		least:   96,
		tail:    &dotWord,
		edge:    base64Edge,
	},
	{name: "adobe-client-secret", anchors: []string{"p8e-"}, chars: &hexAny, body: 32},
	{
		name:    "linkedin-client-secret",
		anchors: []string{"WPL_AP1."},
		pattern: `WPL_AP1\.[0-9A-Za-z]{14}`,
		least:   22,
		tail:    &dotPad,
		body:    14,
	},
}
