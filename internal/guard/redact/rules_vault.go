package redact

// vaultRules are the keys of secret stores, networks and infrastructure tools.
var vaultRules = []rule{
	{
		name:    "age-secret-key",
		anchors: []string{"AGE-SECRET-KEY-"},
		pattern: `AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{58}`,
		least:   74,
		tail:    &upperAlnum,
		body:    58,
	},
	{name: "vault-token", anchors: []string{"hvs.", "hvb.", "hvr."}, chars: &urlSafe, body: 24},
	{
		name:    "terraform-token",
		anchors: []string{".atlasv1."},
		pattern: `[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_=-]{60}`,
		least:   83,
		lead:    &alnum,
		back:    14,
		tail:    &urlPad,
	},
	{name: "pulumi-token", anchors: []string{"pul-"}, chars: &hexLower, body: 40},
	{
		name:    "doppler-token",
		anchors: []string{"dp."},
		pattern: `dp\.(?:pt|ct|sa|scim|audit|said|st)\.(?:[0-9a-z_-]{2,35}\.)?[0-9A-Za-z]{40}`,
		least:   46,
		tail:    &alnum,
		body:    40,
	},
	{name: "onepassword-service-token", anchors: []string{"ops_eyJ"}, chars: &encodedByte, body: 80},
	{
		name:    "onepassword-secret-key",
		anchors: []string{"A3-"},
		pattern: `A3-[0-9A-Z]{6}-(?:[0-9A-Z]{11}|[0-9A-Z]{6}-[0-9A-Z]{5})(?:-[0-9A-Z]{5}){3}`,
		least:   39,
	},
	{
		name:    "tailscale-key",
		anchors: []string{"tskey-"},
		pattern: `tskey-(?:[a-z]{2,10}-)?[0-9A-Za-z]{8,20}-[0-9A-Za-z]{16}`,
		least:   31,
		tail:    &urlSafe,
	},
	{
		name:    "amber-token",
		anchors: []string{"amber_"},
		pattern: `amber_[a-z2-7]{8}_[a-z2-7]{52}`,
		least:   67,
		body:    52,
		tail:    &lowerAlnum,
	},
	{
		// 0.id of the machine account.secret:key, as the Secrets Manager shows it once.
		name:    "bitwarden-access-token",
		anchors: []string{"0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.a", "0.b", "0.c", "0.d", "0.e", "0.f"},
		pattern: `0\.` + uuid + `\.[0-9A-Za-z]{30}:[0-9A-Za-z+/]{22}==`,
		least:   94,
	},
	{name: "stytch-secret", anchors: []string{"secret-live-", "secret-test-"}, chars: &urlSafe, body: 36},
	{name: "django-secret-key", anchors: []string{"django-insecure-"}, chars: &djangoByte, body: 40},
	{
		name:    "swarm-join-token",
		anchors: []string{"SWMTKN-1-"},
		pattern: `SWMTKN-1-[0-9a-z]{50}-[0-9a-z]{25}`,
		least:   85,
	},
	{
		name:    "infisical-token",
		anchors: []string{"st."},
		pattern: `st\.(?:[0-9a-f]{24}|` + uuid + `)\.[0-9a-f]{32}\.[0-9a-f]{32}`,
		least:   93,
	},
	{name: "extended-private-key", anchors: []string{"xprv", "yprv", "zprv", "tprv"}, chars: &alnum, body: 100},
	{name: "colony-key", anchors: []string{"col_"}, chars: &urlSafe, body: 24, accept: isColonyBody},
	{name: "putty-private-key", anchors: []string{"Private-Lines: "}, finder: findPuTTY},
}

// findPuTTY removes the private lines of a PuTTY key file.
func findPuTTY(v view, at int, found []span) []span {
	start := digits.run(v.text, at+len("Private-Lines: "), v.hi)
	end, ok := v.looseArmourEnd(start, min(v.hi, start+maxArmour))
	if !ok {
		return found
	}
	return append(found, span{start, end, "putty-private-key"})
}

// isColonyBody tells the random part of a key from the name of a column, which
// begins alike: a name is words, and parts them.
func isColonyBody(body string) bool {
	t := tallyOf(body)
	letters := t.lower + t.upper
	switch {
	case !varied(body) || t.digit == 0 || letters == 0:
		return false
	case t.lower > 0 && t.upper > 0:
		return t.distinct >= 12
	}
	return t.digit >= 3 && letters+t.digit == len(body)
}
