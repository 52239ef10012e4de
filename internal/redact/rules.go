package redact

import "slices"

// shapeRules returns the rules for secrets that tell themselves. Rules with
// one anchor are in order of precedence.
func shapeRules() []rule {
	return slices.Concat(
		[]rule{privateRule()},
		pemRules(),
		llmRules(),
		cloudRules(),
		storageRules(),
		vcsRules(),
		chatRules(),
		paymentRules(),
		mailRules(),
		registryRules(),
		monitoringRules(),
		buildRules(),
		officeRules(),
		vaultRules(),
		[]rule{jwtRule()}, // after those that begin with a JWT's first letters
	)
}

// settingRules returns the rules for secrets that only their surroundings
// tell.
func settingRules() []rule {
	return slices.Concat(
		headerRules(),
		urlRules(),
		[]rule{assignmentRule()},
	)
}

// uuid is a UUID as RE2.
const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`
