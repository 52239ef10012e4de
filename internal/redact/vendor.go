package redact

import (
	"regexp"
	"strings"
	"sync"
)

// vendorKey is a key that looks like any other, but not beside the name of
// its provider.
type vendorKey struct {
	rule  string
	names []string // parts of the assignment's name
	value func() *regexp.Regexp
}

// vendorKeys returns the keys told by the name they are assigned to.
func vendorKeys() []vendorKey {
	key := func(rule, pattern string, names ...string) vendorKey {
		return vendorKey{rule, names, sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`^(?:` + pattern + `)$`)
		})}
	}
	return []vendorKey{
		key("aws-secret-access-key", `[0-9A-Za-z+/]{40}`, "secret_access_key", "secretaccesskey", "secret-access-key", "aws_secret", "awssecret"),
		key("aws-session-token", `[0-9A-Za-z+/=]{100,}`, "aws_session_token", "awssessiontoken", "session_token", "sessiontoken"),
		key("cloudflare-api-key", `[0-9A-Za-z_-]{40}|[0-9a-f]{37}`, "cloudflare", "cf_api"),
		key("cohere-api-key", `[0-9A-Za-z]{40}`, "cohere", "co_api"),
		key("mistral-api-key", `[0-9A-Za-z]{32}`, "mistral"),
		key("together-api-key", `[0-9a-f]{64}`, "together"),
		key("datadog-api-key", `[0-9a-f]{32}|[0-9a-f]{40}`, "datadog", "dd_api", "dd_app"),
		key("heroku-api-key", uuid, "heroku"),
		key("linode-token", `[0-9a-f]{64}`, "linode"),
		key("vercel-token", `[0-9A-Za-z]{24}`, "vercel"),
		key("twilio-auth-token", `[0-9a-f]{32}`, "twilio"),
		key("gitea-token", `[0-9a-f]{40}`, "gitea", "forgejo", "codeberg"),
		key("circleci-token", `[0-9a-f]{40}`, "circle"),
		key("github-token", `[0-9a-f]{40}`, "github", "gh_token"),
		key("ngrok-auth-token", `[0-9A-Za-z]{20,30}_[0-9A-Za-z]{16,26}`, "ngrok"),
		key("npmrc-auth-token", uuid+`|[0-9A-Za-z+/=_-]{20,}`, "_authtoken"),
		key("postmark-server-token", uuid, "postmark"),
		key("snyk-token", uuid, "snyk"),
		key("codecov-token", uuid, "codecov"),
		key("algolia-api-key", `[0-9a-f]{32}`, "algolia"),
		key("fastly-api-token", `[0-9A-Za-z_-]{32}`, "fastly"),
		key("okta-api-token", `00[0-9A-Za-z_=-]{40}`, "okta"),
		key("scaleway-secret-key", uuid, "scw", "scaleway"),
		key("mailgun-signing-key", `[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}`, "mailgun"),
		key("asana-token", `[012]/[0-9]{10,20}(?:/[0-9]{10,20})?|[0-9a-f]{32}`, "asana"),
		key("pagerduty-api-key", `[0-9A-Za-z+_-]{20}`, "pagerduty"),
		key("travis-token", `[0-9A-Za-z_-]{22}`, "travis"),
	}
}

// vendorOf returns the rule of the first vendor whose name and form an
// assignment has, "" when it is none's.
func vendorOf(vendors []vendorKey, name, value string) string {
	if len(value) < minRandom || !distinct5(value) || filled(value) {
		return ""
	}
	for _, k := range vendors {
		for _, part := range k.names {
			if strings.Contains(name, part) && k.value().MatchString(value) && wordShare(value) < 0.4 {
				return k.rule
			}
		}
	}
	return ""
}
