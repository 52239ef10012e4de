package mcpapi

import (
	"context"

	"github.com/amber-memory/amber/server"
)

// toldTo is the answer to a call as the caller of ctx is told it: a caller that may
// change something and may not read gets a receipt without stored text.
func (a answer) toldTo(ctx context.Context, n need) (answer, error) {
	if !n.mutates || server.CallerOf(ctx).MayRead() {
		return a, nil
	}
	data, err := server.Receipt(a.data)
	a.data, a.text = data, "" // the text is the receipt, too
	return a, err
}
