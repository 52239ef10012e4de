package redact

// mailRules are the keys of mail services.
var mailRules = []rule{
	{
		name:    "sendgrid-api-key",
		anchors: []string{"SG."},
		pattern: `SG\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{32}`,
		least:   58,
		tail:    &urlSafe,
	},
	{name: "mailgun-api-key", anchors: []string{"key-"}, chars: &hexLower, body: 32},
	{
		name:    "mailchimp-api-key",
		anchors: []string{"-us"},
		pattern: `[0-9a-f]{32}-us[0-9]{1,2}`,
		least:   36,
		lead:    &hexLower,
		back:    32,
		reach:   6,
		tail:    &digits,
		edge:    base64Edge,
	},
	{
		name:    "resend-api-key",
		anchors: []string{"re_"},
		pattern: `re_[0-9A-Za-z]{8}_[0-9A-Za-z]{20}`,
		least:   32,
		tail:    &alnum,
		accept:  mixed,
	},
	{
		name:    "brevo-api-key",
		anchors: []string{"xkeysib-", "xsmtpsib-"},
		pattern: `x(?:key|smtp)sib-[0-9a-f]{64}-[0-9A-Za-z]{16}`,
		least:   89,
		tail:    &alnum,
	},
	{name: "mailersend-api-key", anchors: []string{"mlsn."}, chars: &hexLower, body: 60},
	{name: "klaviyo-private-key", anchors: []string{"pk_"}, chars: &hexLower, body: 34},
}
