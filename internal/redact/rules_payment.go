package redact

// paymentRules are the keys of payment and commerce services.
func paymentRules() []rule {
	return []rule{
		shape{
			anchors: []string{"sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"},
			pattern: `[sr]k_(?:live|test|prod)_[0-9A-Za-z]{20}`,
			tail:    newClass("0-9A-Za-z_=-"),
			body:    20,
		}.named("stripe-secret-key"),
		prefixed("stripe-webhook-secret", base64Pad, 32, "whsec_"),
		prefixed("square-access-token", urlSafe, 22, "sq0atp-"),
		bare("square-access-token", urlSafe, 60, "EAAA"),
		prefixed("square-oauth-secret", urlSafe, 40, "sq0csp-"),
		shape{
			anchors: []string{"access_token$"},
			pattern: `access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}`,
		}.named("braintree-access-token"),
		prefixed("shopify-token", hexAny, 32, "shpat_", "shpss_", "shpca_", "shppa_", "shptka_"),
		shape{
			anchors: []string{"access-sandbox-", "access-development-", "access-production-"},
			pattern: `access-(?:sandbox|development|production)-` + uuid,
		}.named("plaid-access-token"),
		shape{
			anchors: []string{"FLWSECK"},
			pattern: `FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12}`,
			tail:    newClass("0-9A-Za-z-"),
			body:    12,
		}.named("flutterwave-secret-key"),
		prefixed("duffel-token", newClass("0-9A-Za-z_=-"), 40, "duffel_live_", "duffel_test_"),
		bare("easypost-api-key", alnum, 54, "EZAK", "EZTK"),
		prefixed("shippo-token", hexAny, 40, "shippo_live_", "shippo_test_"),
		shape{
			anchors: []string{"pdl_"},
			pattern: `pdl_(?:live|sdbx)_apikey_[0-9a-z]{26}_[0-9A-Za-z]{22}`,
			tail:    wordByte,
		}.named("paddle-api-key"),
	}
}
