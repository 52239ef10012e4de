package openviking

import (
	"fmt"
	"math/rand"

	"github.com/amber-memory/amber"
)

func newRandom(seed int64) *rand.Rand { return rand.New(rand.NewSource(seed)) }

func ptr[T any](v T) *T { return &v }

// randomIdentities are of few names, so that some are shared.
func randomIdentities(r *rand.Rand) amber.Identities {
	one := func(kind string) string { return fmt.Sprint(kind, r.Intn(3)) }
	return amber.Identities{SessionID: amber.SessionID(one("s")), UserID: one("u"), ProjectID: one("p"), WorkspaceID: one("w")}
}

func randomRequest(r *rand.Rand, content string) amber.WriteRequest {
	return amber.WriteRequest{
		Content: content, Kind: amber.MemoryKinds()[r.Intn(8)], Scope: amber.Scopes()[r.Intn(5)], Identities: randomIdentities(r),
		Tags: []string{fmt.Sprint("tag", r.Intn(3))}, Trust: []amber.Trust{amber.TrustOwn, amber.TrustSigned, amber.TrustImported, amber.TrustDerived}[r.Intn(4)],
	}
}
