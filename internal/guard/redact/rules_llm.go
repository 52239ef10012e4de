package redact

// llmRules are the keys of model providers and of the services around them.
var llmRules = []rule{
	{name: "anthropic-api-key", anchors: []string{"sk-ant-"}, chars: &urlSafe, body: 32},
	{name: "openrouter-api-key", anchors: []string{"sk-or-"}, chars: &urlSafe, body: 40},
	{
		name:    "langfuse-secret-key",
		anchors: []string{"sk-lf-"},
		pattern: `sk-lf-` + uuid,
		least:   42,
	},
	{name: "openai-api-key", anchors: []string{"sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"}, chars: &urlSafe, body: 40},
	{name: "openai-api-key", anchors: []string{"sk-"}, chars: &alnum, body: 20, accept: mixed},
	{
		name:    "openai-api-key",
		anchors: []string{"sk-"},
		pattern: `sk-[0-9A-Za-z]{20}T3BlbkFJ[0-9A-Za-z]{20}`,
		least:   51,
		tail:    &alnum,
	},
	{name: "google-api-key", anchors: []string{"AIza"}, chars: &urlSafe, body: 35},
	{name: "groq-api-key", anchors: []string{"gsk_"}, chars: &alnum, body: 40},
	{name: "xai-api-key", anchors: []string{"xai-"}, chars: &alnum, body: 60},
	{name: "perplexity-api-key", anchors: []string{"pplx-"}, chars: &alnum, body: 40},
	{name: "huggingface-token", anchors: []string{"hf_", "api_org_"}, chars: &alnum, body: 30},
	{name: "replicate-api-token", anchors: []string{"r8_"}, chars: &alnum, body: 36, edge: base64Edge},
	{name: "fireworks-api-key", anchors: []string{"fw_"}, chars: &alnum, body: 22, edge: base64Edge},
	{name: "cerebras-api-key", anchors: []string{"csk-"}, chars: &alnum, body: 40},
	{name: "nvidia-api-key", anchors: []string{"nvapi-"}, chars: &urlSafe, body: 60},
	{name: "tavily-api-key", anchors: []string{"tvly-"}, chars: &urlSafe, body: 28},
	{name: "firecrawl-api-key", anchors: []string{"fc-"}, chars: &hexLower, body: 32},
	{name: "jina-api-key", anchors: []string{"jina_"}, chars: &urlSafe, body: 50},
	{name: "pinecone-api-key", anchors: []string{"pcsk_"}, chars: &wordByte, body: 50},
	{name: "elevenlabs-api-key", anchors: []string{"sk_"}, chars: &hexLower, body: 48},
	{
		name:    "langsmith-api-key",
		anchors: []string{"lsv2_"},
		pattern: `lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}`,
		least:   51,
	},
}
