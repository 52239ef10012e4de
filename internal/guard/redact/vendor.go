package redact

import "strings"

// vendorKey is a key that looks like any other, but not beside the name of
// its provider.
type vendorKey struct {
	rule    string
	pattern string   // the whole value
	names   []string // parts of the assignment's name
}

// vendorKeys are the keys that are recognised by the name they are assigned to.
var vendorKeys = []vendorKey{
	{"aws-secret-access-key", `[0-9A-Za-z+/]{40}$`, []string{"secret_access_key", "secretaccesskey", "secret-access-key", "aws_secret", "awssecret"}},
	{"aws-session-token", `[0-9A-Za-z+/=]{100,}$`, []string{"aws_session_token", "awssessiontoken", "session_token", "sessiontoken"}},
	{"cloudflare-api-key", `(?:[0-9A-Za-z_-]{40}|[0-9a-f]{37})$`, []string{"cloudflare", "cf_api"}},
	{"cohere-api-key", `[0-9A-Za-z]{40}$`, []string{"cohere", "co_api"}},
	{"mistral-api-key", `[0-9A-Za-z]{32}$`, []string{"mistral"}},
	{"together-api-key", `[0-9a-f]{64}$`, []string{"together"}},
	{"datadog-api-key", `(?:[0-9a-f]{32}|[0-9a-f]{40})$`, []string{"datadog", "dd_api", "dd_app"}},
	{"heroku-api-key", uuid + `$`, []string{"heroku"}},
	{"linode-token", `[0-9a-f]{64}$`, []string{"linode"}},
	{"vercel-token", `[0-9A-Za-z]{24}$`, []string{"vercel"}},
	{"twilio-auth-token", `[0-9a-f]{32}$`, []string{"twilio"}},
	{"gitea-token", `[0-9a-f]{40}$`, []string{"gitea", "forgejo", "codeberg"}},
	{"circleci-token", `[0-9a-f]{40}$`, []string{"circle"}},
	{"github-token", `[0-9a-f]{40}$`, []string{"github", "gh_token"}},
	{"ngrok-auth-token", `[0-9A-Za-z]{20,30}_[0-9A-Za-z]{16,26}$`, []string{"ngrok"}},
	{"npmrc-auth-token", `[0-9A-Za-z+/=_-]{20,}$`, []string{"_authtoken"}},
	{"postmark-server-token", uuid + `$`, []string{"postmark"}},
	{"snyk-token", uuid + `$`, []string{"snyk"}},
	{"codecov-token", uuid + `$`, []string{"codecov"}},
	{"algolia-api-key", `[0-9a-f]{32}$`, []string{"algolia"}},
	{"fastly-api-token", `[0-9A-Za-z_-]{32}$`, []string{"fastly"}},
	{"okta-api-token", `00[0-9A-Za-z_=-]{40}$`, []string{"okta"}},
	{"scaleway-secret-key", uuid + `$`, []string{"scw", "scaleway"}},
	{"mailgun-signing-key", `[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}$`, []string{"mailgun"}},
	{"asana-token", `(?:[012]/[0-9]{10,20}(?:/[0-9]{10,20})?|[0-9a-f]{32})$`, []string{"asana"}},
	{"pagerduty-api-key", `[0-9A-Za-z+_-]{20}$`, []string{"pagerduty"}},
	{"wandb-api-key", `[0-9a-f]{40}$`, []string{"wandb"}},
	{"deepgram-api-key", `[0-9a-f]{40}$`, []string{"deepgram"}},
	{"serper-api-key", `[0-9a-f]{40}$`, []string{"serper"}},
	{"assemblyai-api-key", `[0-9a-f]{32}$`, []string{"assemblyai"}},
	{"exa-api-key", uuid + `$`, []string{"exa_api"}},
	{"azure-api-key", `[0-9a-f]{32}$`, []string{"azure"}},
	{"azure-devops-token", `[0-9a-z]{52}$`, []string{"azure_devops", "azuredevops", "system_accesstoken", "vsts", "ado_pat"}},
	{"railway-token", uuid + `$`, []string{"railway"}},
	{"bitwarden-session", `[0-9A-Za-z+/]{86}==$`, []string{"bw_session"}},
	{"travis-token", `[0-9A-Za-z_-]{22}$`, []string{"travis"}},
}

// vendorOf returns the rule of the first vendor whose name and form an
// assignment has, "" when there is no such vendor.
func (v view) vendorOf(name, value string) string {
	if len(value) < minRandom || !distinct5(value) || filled(value) {
		return ""
	}
	for _, k := range vendorKeys {
		for _, part := range k.names {
			if strings.Contains(name, part) && v.doc.exprs.match(k.pattern, value) != nil && wordShare(value) < 0.4 {
				return k.rule
			}
		}
	}
	return ""
}
