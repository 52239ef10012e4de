package redact

// chatRules are the tokens and hooks of messaging services.
var chatRules = []rule{
	{
		name:    "slack-token",
		anchors: []string{"xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxe.xoxb-", "xoxe.xoxp-"},
		chars:   &slackByte,
		body:    20,
		tail:    &slackTail,
		accept:  func(s string) bool { return tallyOf(s).digit > 0 && distinct5(s) && wordShare(s) < 0.5 },
	},
	{
		name:    "slack-app-token",
		anchors: []string{"xapp-"},
		pattern: `xapp-[0-9]-[0-9A-Z]{8,16}-[0-9]{8,16}-[0-9a-z]{40}`,
		least:   65,
		tail:    &lowerAlnum,
	},
	{
		name:    "slack-webhook-url",
		anchors: []string{"hooks.slack.com"},
		pattern: `[a-z.]+` + slash + `(?:services|workflows|triggers)` + slash +
			`([0-9A-Za-z]{8,14}` + slash + `[0-9A-Za-z]{8,24}` + slash + `[0-9A-Za-z]{16})`,
		least:  45,
		tail:   &alnum,
		edge:   noEdge,
		accept: distinct5,
	},
	{
		name:    "discord-webhook-url",
		anchors: []string{"discord.com", "discordapp.com"},
		pattern: `[a-z.]+` + slash + `api` + slash + `(?:v[0-9]{1,2}` + slash + `)?webhooks` + slash +
			`([0-9]{17,20}` + slash + `[0-9A-Za-z_-]{60})`,
		least:  93,
		tail:   &urlSafe,
		edge:   noEdge,
		accept: distinct5,
	},
	{
		name:    "discord-bot-token",
		anchors: snowflakes,
		pattern: `[MNO][0-9A-Za-z]{23,27}\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27}`,
		least:   59,
		tail:    &urlSafe,
		edge:    base64Edge,
	},
	{
		name:    "telegram-bot-token",
		anchors: []string{":AA"},
		pattern: `[0-9]{8,10}:AA[0-9A-Za-z_-]{33}`,
		least:   44,
		lead:    &digits,
		back:    10,
		tail:    &urlSafe,
		edge:    noEdge, // /bot123456789:AA... in URLs
		body:    33,
	},
	{
		name:    "teams-webhook-url",
		anchors: []string{"webhook.office.com"},
		pattern: `[a-z.]+` + slash + `webhookb2` + slash +
			`(` + uuid + `@` + uuid + slash + `IncomingWebhook` + slash + `[0-9a-z]{32}` + slash + uuid + `)`,
		least:  171,
		tail:   &pathSafe,
		edge:   noEdge,
		accept: distinct5,
	},
	{
		name:    "zapier-webhook-url",
		anchors: []string{"hooks.zapier.com"},
		pattern: `[a-z.]+` + slash + `hooks` + slash + `catch` + slash + `([0-9]{4,12}` + slash + `[0-9a-z]{5})`,
		least:   24,
		tail:    &lowerAlnum,
		edge:    noEdge,
		accept:  distinct5,
	},
	{
		name:    "make-webhook-url",
		anchors: []string{"make.com"},
		pattern: `[a-z.]+` + slash + `([0-9a-z]{32})`,
		least:   34,
		tail:    &lowerAlnum,
		edge:    noEdge,
		accept:  distinct5,
	},
	{
		name:    "twilio-api-key",
		anchors: []string{"SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe", "SKf"},
		pattern: `SK[0-9a-f]{32}`,
		least:   34,
		edge:    base64Edge,
	},
	{
		name:    "twilio-account-sid",
		anchors: []string{"AC0", "AC1", "AC2", "AC3", "AC4", "AC5", "AC6", "AC7", "AC8", "AC9", "ACa", "ACb", "ACc", "ACd", "ACe", "ACf"},
		pattern: `AC[0-9a-f]{32}`,
		least:   34,
		edge:    base64Edge,
	},
	{
		name:    "matrix-access-token",
		anchors: []string{"syt_"},
		pattern: `syt_[0-9A-Za-z+/=]{2,64}_[0-9A-Za-z]{20}_[0-9A-Za-z]{6}`,
		least:   34,
		tail:    &alnum,
	},
	{name: "facebook-access-token", anchors: []string{"EAA"}, chars: &alnum, body: 80, edge: base64Edge, accept: even},
	{
		name:    "twitter-bearer-token",
		anchors: []string{"AAAAAAAAAAAAAAAAAAAAA"},
		chars:   &percentAlnum,
		body:    60,
		edge:    base64Edge,
		accept:  even,
	},
	{
		name:    "twitch-oauth-token",
		anchors: []string{"oauth:"},
		pattern: `oauth:([0-9a-z]{30})`,
		least:   36,
		accept:  mixed,
	},
}

// slash is a slash in a URL, which some writers of JSON escape.
const slash = `\\?/`

// snowflakes are how a number that Discord gives its users begins in base64.
// Its bot tokens begin with one, and have no other prefix.
var snowflakes = []string{
	"MTA", "MTE", "MTI", "MTM", "MTQ", "MTU", "MTY", "MTc", "MTg", "MTk",
	"MjA", "MjE", "MjI", "MjM", "MjQ", "MjU", "MjY", "Mjc", "Mjg", "Mjk",
	"MzA", "MzE", "MzI", "MzM", "MzQ", "MzU", "MzY", "Mzc", "Mzg", "Mzk",
	"NDA", "NDE", "NDI", "NDM", "NDQ", "NDU", "NDY", "NDc", "NDg", "NDk",
	"NTA", "NTE", "NTI", "NTM", "NTQ", "NTU", "NTY", "NTc", "NTg", "NTk",
	"NjA", "NjE", "NjI", "NjM", "NjQ", "NjU", "NjY", "Njc", "Njg", "Njk",
	"NzA", "NzE", "NzI", "NzM", "NzQ", "NzU", "NzY", "Nzc", "Nzg", "Nzk",
	"ODA", "ODE", "ODI", "ODM", "ODQ", "ODU", "ODY", "ODc", "ODg", "ODk",
	"OTA", "OTE", "OTI", "OTM", "OTQ", "OTU", "OTY", "OTc", "OTg", "OTk",
}
