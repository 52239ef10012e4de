package redact

// paymentRules are the keys of payment and commerce services.
var paymentRules = []rule{
	{
		name:    "stripe-secret-key",
		anchors: []string{"sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"},
		chars:   &alnum,
		body:    20,
		tail:    &urlPad,
	},
	{name: "stripe-webhook-secret", anchors: []string{"whsec_"}, chars: &base64Pad, body: 32},
	{name: "square-access-token", anchors: []string{"sq0atp-"}, chars: &urlSafe, body: 22},
	{name: "square-access-token", anchors: []string{"EAAA"}, chars: &urlSafe, body: 60, edge: base64Edge, accept: even},
	{name: "square-oauth-secret", anchors: []string{"sq0csp-"}, chars: &urlSafe, body: 40},
	{
		name:    "braintree-access-token",
		anchors: []string{"access_token$"},
		pattern: `access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}`,
		least:   70,
	},
	{name: "shopify-token", anchors: []string{"shpat_", "shpss_", "shpca_", "shppa_", "shptka_"}, chars: &hexAny, body: 32},
	{
		name:    "plaid-access-token",
		anchors: []string{"access-sandbox-", "access-development-", "access-production-"},
		pattern: `access-(?:sandbox|development|production)-` + uuid,
		least:   51,
	},
	{
		name:    "flutterwave-secret-key",
		anchors: []string{"FLWSECK"},
		pattern: `FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12}`,
		least:   20,
		tail:    &alnumDash,
		body:    12,
	},
	{name: "mollie-api-key", anchors: []string{"live_", "test_"}, chars: &alnum, body: 30, accept: cased},
	{name: "duffel-token", anchors: []string{"duffel_live_", "duffel_test_"}, chars: &urlPad, body: 40},
	{name: "easypost-api-key", anchors: []string{"EZAK", "EZTK"}, chars: &alnum, body: 54, edge: base64Edge},
	{name: "shippo-token", anchors: []string{"shippo_live_", "shippo_test_"}, chars: &hexAny, body: 40},
	{
		name:    "paddle-api-key",
		anchors: []string{"pdl_"},
		pattern: `pdl_(?:live|sdbx)_apikey_[0-9a-z]{26}_[0-9A-Za-z]{22}`,
		least:   65,
		tail:    &wordByte,
	},
}
