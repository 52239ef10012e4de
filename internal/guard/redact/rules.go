package redact

import "slices"

// shapeRules are the rules for secrets that their form alone gives away. Rules with one
// anchor are in order of precedence.
var shapeRules = [][]rule{
	privateRules,
	pemRules,
	llmRules,
	agentRules,
	cloudRules,
	storageRules,
	vcsRules,
	chatRules,
	paymentRules,
	mailRules,
	registryRules,
	monitoringRules,
	buildRules,
	officeRules,
	vaultRules,
	jwtRules,
}

// settingRules are the rules for secrets that only their surroundings give away.
// Their anchors match in any case.
var settingRules = [][]rule{headerRules, urlRules, commandRules, assignmentRules}

// Rules returns the names of all rules, sorted. They are what a marker and the
// counts of a [Report] name.
func Rules() []string {
	var names []string
	for _, r := range slices.Concat(slices.Concat(shapeRules...), slices.Concat(settingRules...)) {
		names = append(names, r.name)
	}
	for _, k := range vendorKeys {
		names = append(names, k.rule)
	}
	names = append(names, impliedRules...)
	slices.Sort(names)
	return slices.Compact(names)
}

// uuid is a UUID as RE2.
const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`
