package redact

// llmRules are the keys of model providers and of the services around them.
func llmRules() []rule {
	return []rule{
		prefixed("anthropic-api-key", urlSafe, 32, "sk-ant-"),
		prefixed("openrouter-api-key", urlSafe, 40, "sk-or-"),
		shape{
			anchors: []string{"sk-lf-"},
			pattern: `sk-lf-` + uuid,
		}.named("langfuse-secret-key"),
		prefixed("openai-api-key", urlSafe, 40, "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"),
		shape{
			anchors: []string{"sk-"},
			pattern: `sk-[0-9A-Za-z]{20}T3BlbkFJ[0-9A-Za-z]{20}`,
			tail:    alnum,
		}.named("openai-api-key"),
		shape{
			anchors: []string{"sk-"},
			pattern: `sk-[0-9A-Za-z]{20}`,
			tail:    alnum,
			body:    20,
			accept:  mixed,
		}.named("openai-api-key"),
		bare("google-api-key", urlSafe, 35, "AIza"),
		prefixed("groq-api-key", alnum, 40, "gsk_"),
		prefixed("xai-api-key", alnum, 60, "xai-"),
		prefixed("perplexity-api-key", alnum, 40, "pplx-"),
		prefixed("huggingface-token", alnum, 30, "hf_", "api_org_"),
		prefixed("replicate-api-token", alnum, 36, "r8_"),
		prefixed("fireworks-api-key", alnum, 22, "fw_"),
		prefixed("cerebras-api-key", alnum, 40, "csk-"),
		prefixed("nvidia-api-key", urlSafe, 60, "nvapi-"),
		prefixed("tavily-api-key", urlSafe, 28, "tvly-"),
		prefixed("firecrawl-api-key", hexLower, 32, "fc-"),
		prefixed("jina-api-key", urlSafe, 50, "jina_"),
		prefixed("pinecone-api-key", wordByte, 50, "pcsk_"),
		prefixed("elevenlabs-api-key", hexLower, 48, "sk_"),
		shape{
			anchors: []string{"lsv2_"},
			pattern: `lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}`,
		}.named("langsmith-api-key"),
	}
}
