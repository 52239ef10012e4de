package redact

// chatRules are the tokens and hooks of messaging services.
func chatRules() []rule {
	return []rule{
		shape{
			anchors: []string{"xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxe.xox"},
			pattern: `xox(?:[a-eoprs]|e\.xox[bp])-[0-9A-Za-z%-]{20}`,
			tail:    newClass("0-9A-Za-z%+/=-"),
			body:    20,
			accept:  func(s string) bool { return tallyOf(s).digit > 0 && distinct5(s) && wordShare(s) < 0.5 },
		}.named("slack-token"),
		shape{
			anchors: []string{"xapp-"},
			pattern: `xapp-[0-9]-[0-9A-Z]{8,16}-[0-9]{8,16}-[0-9a-z]{40}`,
			tail:    lowerAlnum,
		}.named("slack-app-token"),
		hook("slack-webhook-url", "hooks.slack.com", `\\?/(?:services|workflows|triggers)\\?/([0-9A-Za-z]{8,14}\\?/[0-9A-Za-z]{8,24}\\?/[0-9A-Za-z]{16})`,
			alnum),
		hook("discord-webhook-url", "discord.com", discordHook, urlSafe),
		hook("discord-webhook-url", "discordapp.com", discordHook, urlSafe),
		discordTokenRule(),
		shape{
			anchors: []string{":AA"},
			pattern: `[0-9]{8,10}:AA[0-9A-Za-z_-]{33}`,
			lead:    digits,
			back:    10,
			tail:    urlSafe,
			body:    33,
		}.named("telegram-bot-token"),
		hook("teams-webhook-url", "webhook.office.com", `\\?/webhookb2\\?/(`+uuid+`@`+uuid+`\\?/IncomingWebhook\\?/[0-9a-z]{32}\\?/`+uuid+`)`,
			newClass("0-9A-Za-z/_-")),
		hook("zapier-webhook-url", "hooks.zapier.com", `\\?/hooks\\?/catch\\?/([0-9]{4,12}\\?/[0-9a-z]{5})`, lowerAlnum),
		hook("make-webhook-url", "make.com", `\\?/([0-9a-z]{32})`, lowerAlnum),
		shape{
			anchors: hexAnchors("SK"),
			pattern: `SK[0-9a-f]{32}`,
			edge:    base64Edge,
		}.named("twilio-api-key"),
		shape{
			anchors: hexAnchors("AC"),
			pattern: `AC[0-9a-f]{32}`,
			edge:    base64Edge,
		}.named("twilio-account-sid"),
		shape{
			anchors: []string{"syt_"},
			pattern: `syt_[0-9A-Za-z+/=]{2,64}_[0-9A-Za-z]{20}_[0-9A-Za-z]{6}`,
			tail:    alnum,
		}.named("matrix-access-token"),
		bare("facebook-access-token", alnum, 80, "EAAC", "EAAG", "EAAM"),
		shape{
			anchors: []string{"AAAAAAAAAAAAAAAAAAAAA"},
			pattern: `A{21}[0-9A-Za-z%]{60}`,
			tail:    newClass("0-9A-Za-z%"),
			edge:    base64Edge,
			body:    60,
		}.named("twitter-bearer-token"),
		shape{
			anchors: []string{"oauth:"},
			pattern: `oauth:([0-9a-z]{30})`,
			accept:  mixed,
		}.named("twitch-oauth-token"),
	}
}

const discordHook = `\\?/api\\?/(?:v[0-9]{1,2}\\?/)?webhooks\\?/([0-9]{17,20}\\?/[0-9A-Za-z_-]{60})`

// hook is the rule for a URL whose path is a secret; only that is removed. The
// slashes may be escaped, as some writers of JSON do.
func hook(name, host, path string, tail *class) rule {
	return shape{
		anchors: []string{host},
		pattern: `[a-z.]+` + path,
		tail:    tail,
		edge:    noEdge,
		accept:  distinct5,
	}.named(name)
}

// hexAnchors returns prefix with each lower-case hexadecimal digit.
func hexAnchors(prefix string) []string {
	var all []string
	for _, d := range "0123456789abcdef" {
		all = append(all, prefix+string(d))
	}
	return all
}

// discordTokenRule removes Discord bot tokens. They have no prefix, but their
// first part is a number in base64, so it begins like one.
func discordTokenRule() rule {
	var anchors []string
	for _, first := range []string{"MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"} {
		for _, second := range "AEIMQUYcgk" {
			anchors = append(anchors, first+string(second))
		}
	}
	return shape{
		anchors: anchors,
		pattern: `[MNO][0-9A-Za-z]{23,27}\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27}`,
		tail:    urlSafe,
		edge:    base64Edge,
	}.named("discord-bot-token")
}
