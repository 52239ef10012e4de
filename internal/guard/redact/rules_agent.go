package redact

// agentRules are the keys of what agents are built from: embeddings, sandboxes, browsers, GPUs, traces.
var agentRules = []rule{
	{name: "voyage-api-key", anchors: []string{"pa-", "al-"}, chars: &urlSafe, body: 43, edge: base64Edge, accept: cased},
	{name: "wandb-api-key", anchors: []string{"wandb_v1_"}, chars: &wordByte, body: 60},
	{name: "e2b-api-key", anchors: []string{"e2b_"}, chars: &hexLower, body: 40},
	{name: "modal-token", anchors: []string{"ak-", "as-", "wk-", "ws-"}, chars: &alnum, body: 22, edge: base64Edge, accept: cased},
	{name: "daytona-api-key", anchors: []string{"dtn_"}, chars: &hexLower, body: 64},
	{name: "llamacloud-api-key", anchors: []string{"llx-"}, chars: &alnum, body: 40},
	{name: "google-api-key", anchors: []string{"AQ.Ab"}, chars: &urlSafe, body: 40, edge: base64Edge},
	{name: "together-api-key", anchors: []string{"tgp_v1_"}, chars: &urlSafe, body: 40},
	{name: "runpod-api-key", anchors: []string{"rpa_"}, chars: &alnum, body: 36},
	{name: "browserbase-api-key", anchors: []string{"bb_live_", "bb_test_"}, chars: &urlSafe, body: 24, accept: mixed},
	{name: "cursor-api-key", anchors: []string{"crsr_"}, chars: &hexLower, body: 64},
	{name: "cursor-api-key", anchors: []string{"key_"}, chars: &hexLower, body: 64},
	{name: "context7-api-key", anchors: []string{"ctx7sk-"}, chars: &alnumDash, body: 32},
	{name: "brave-api-key", anchors: []string{"BSA"}, chars: &urlSafe, body: 28, edge: base64Edge, accept: cased},
	{name: "convex-deploy-key", anchors: []string{"|eyJ2MiI6"}, chars: &base64Pad, body: 30, edge: noEdge},
	{name: "chroma-api-key", anchors: []string{"ck-"}, chars: &alnum, body: 44, edge: base64Edge},
	{name: "mem0-api-key", anchors: []string{"m0-"}, chars: &alnum, body: 36, edge: base64Edge},
	{name: "turbopuffer-api-key", anchors: []string{"tpuf_"}, chars: &alnum, body: 32},
	{name: "letta-api-key", anchors: []string{"sk-let-"}, chars: &base64Pad, body: 40},
	{
		name:    "helicone-api-key",
		anchors: []string{"sk-helicone-"},
		pattern: `sk-helicone-(?:eu-)?[0-9a-z]{7}-[0-9a-z]{7}-[0-9a-z]{7}-[0-9a-z]{7}`,
		least:   43,
		tail:    &alnumDash,
	},
	{name: "trigger-secret-key", anchors: []string{"tr_dev_", "tr_prod_", "tr_stg_", "tr_preview_"}, chars: &alnum, body: 20},
	{
		name:    "inngest-signing-key",
		anchors: []string{"signkey-"},
		pattern: `signkey-(?:[a-z]{2,12}-)?[0-9a-f]{32}`,
		least:   40,
		tail:    &hexLower,
	},
}
