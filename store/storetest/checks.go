package storetest

import "slices"

// Checks returns every promise, by noun. Each runs in a fresh place and may
// run alone.
func Checks() []Check {
	all := slices.Concat(
		writeChecks(), recordChecks(), dedupeChecks(), topicChecks(), idempotencyChecks(), batchChecks(),
		editChecks(), deleteChecks(), eraseChecks(),
		listChecks(), pageChecks(), timelineChecks(), relationChecks(), changeChecks(), statsChecks(),
		recallChecks(), recallTextChecks(), recallRankChecks(), recallFilterChecks(), recallLayerChecks(), askChecks(),
		turnChecks(), compactionChecks(), sessionChecks(), activeChecks(), stateChecks(), loopChecks(),
		ingestChecks(), ingestPartChecks(), ingestPastChecks(), activityChecks(), journalChecks(),
		taskChecks(), eventChecks(), approvalChecks(), resultChecks(),
		publishChecks(), claimChecks(), leaseChecks(), controlLogChecks(),
		noteChecks(), discreetChecks(), documentChecks(),
		ownershipChecks(), cancelChecks(), concurrencyChecks(), sharedChecks(), durabilityChecks(),
	)
	out := make([]Check, len(all))
	for i, c := range all {
		out[i] = c.export()
	}
	return out
}
