package redact

// mailRules are the keys of mail services.
func mailRules() []rule {
	return []rule{
		shape{
			anchors: []string{"SG."},
			pattern: `SG\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{32}`,
			tail:    urlSafe,
		}.named("sendgrid-api-key"),
		prefixed("mailgun-api-key", hexLower, 32, "key-"),
		shape{
			anchors: []string{"-us"},
			pattern: `[0-9a-f]{32}-us[0-9]{1,2}`,
			lead:    hexLower,
			back:    32,
			reach:   6,
			tail:    digits,
			edge:    base64Edge,
		}.named("mailchimp-api-key"),
		shape{
			anchors: []string{"re_"},
			pattern: `re_[0-9A-Za-z]{8}_[0-9A-Za-z]{20}`,
			tail:    alnum,
			accept:  mixed,
		}.named("resend-api-key"),
		shape{
			anchors: []string{"xkeysib-", "xsmtpsib-"},
			pattern: `x(?:key|smtp)sib-[0-9a-f]{64}-[0-9A-Za-z]{16}`,
			tail:    alnum,
		}.named("brevo-api-key"),
		prefixed("mailersend-api-key", hexLower, 60, "mlsn."),
		prefixed("klaviyo-private-key", hexLower, 34, "pk_"),
	}
}
