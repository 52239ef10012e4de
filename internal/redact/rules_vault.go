package redact

// vaultRules are the keys of secret stores, networks and infrastructure tools.
func vaultRules() []rule {
	return []rule{
		shape{
			anchors: []string{"AGE-SECRET-KEY-"},
			pattern: `AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{58}`,
			tail:    upperAlnum,
			body:    58,
		}.named("age-secret-key"),
		prefixed("vault-token", urlSafe, 24, "hvs.", "hvb.", "hvr."),
		shape{
			anchors: []string{".atlasv1."},
			pattern: `[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_=-]{60}`,
			lead:    alnum,
			back:    14,
			tail:    newClass("0-9A-Za-z_=-"),
		}.named("terraform-token"),
		prefixed("pulumi-token", hexLower, 40, "pul-"),
		shape{
			anchors: []string{"dp."},
			pattern: `dp\.(?:pt|ct|sa|scim|audit|said|st)\.(?:[0-9a-z_-]{2,35}\.)?[0-9A-Za-z]{40}`,
			tail:    alnum,
			body:    40,
		}.named("doppler-token"),
		prefixed("onepassword-service-token", base64Pad, 80, "ops_eyJ"),
		shape{
			anchors: []string{"A3-"},
			pattern: `A3-[0-9A-Z]{6}-(?:[0-9A-Z]{11}|[0-9A-Z]{6}-[0-9A-Z]{5})(?:-[0-9A-Z]{5}){3}`,
		}.named("onepassword-secret-key"),
		shape{
			anchors: []string{"tskey-"},
			pattern: `tskey-(?:[a-z]{2,10}-)?[0-9A-Za-z]{8,20}-[0-9A-Za-z]{16}`,
			tail:    urlSafe,
		}.named("tailscale-key"),
		{name: "putty-private-key", anchors: []string{"Private-Lines: "}, find: findPuTTY},
	}
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
