package mcpapi

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// carrier is the one tool that the SDK knows of. Results of tools go through it, because only the SDK can complete
// them as a version of the protocol wants it: from 2026-07-28 on every result says whether it is the last one, and
// clients refuse those that do not. No client sees the carrier or can call it.
const carrier = "result"

// resultKey is the key of a result on its way through the carrier.
type resultKey struct{}

func addCarrier(s *mcp.Server) {
	s.AddTool(&mcp.Tool{Name: carrier, InputSchema: &jsonschema.Schema{Type: "object"}}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, _ := ctx.Value(resultKey{}).(*mcp.CallToolResult)
		return res, nil
	})
}

// complete sends a result through the carrier.
func complete(ctx context.Context, next mcp.MethodHandler, req *mcp.CallToolRequest, res *mcp.CallToolResult) (mcp.Result, error) {
	params := *req.Params
	params.Name = carrier
	through := *req
	through.Params = &params
	return next(context.WithValue(ctx, resultKey{}, res), "tools/call", &through)
}
