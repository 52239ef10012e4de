package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// host is an agent host and how it is run against the model.
type host struct {
	name     string // as `amber setup` has it
	packages string // of npm
	program  string // in the package's folder of programs
	// files are the settings of the user that are there before Amber is set up, by
	// their path below the home.
	files func(r *run) map[string]string
	env   func(r *run) []string
	// args are those of a run with one prompt; session is that to take up again, ""
	// for a new one.
	args    func(r *run, prompt, session string) []string
	servers []string // arguments that list the MCP servers
	online  bool     // it installs packages of its own from npm when it starts
	once    string   // why a session cannot be taken up again; "": it can
}

// hookOf is a command of the user's own that a host is to run, too.
func (r *run) hookOf(name string) string {
	return "cat > " + filepath.Join(r.dir, "user-hook-"+name)
}

// commandHooks lists one hook of the user's own as most hosts want it.
func (r *run) commandHooks(event string) object {
	return object{event: []any{object{"hooks": []any{object{"type": "command", "command": r.hookOf(event)}}}}}
}

// pretty is a settings file as a person would have it.
func pretty(v any) string {
	b, err := json.MarshalIndent(v, "", "   ")
	if err != nil {
		panic("a map always marshals: " + err.Error())
	}
	return string(b) + "\n"
}

// resumed adds arguments that take a session up again, if there is one.
func resumed(args []string, session string, more ...string) []string {
	if session == "" {
		return args
	}
	return append(args, more...)
}

func hosts() []host {
	return []host{claude(), codex(), gemini(), openCode(), copilot(), droid()}
}

func claude() host {
	return host{
		name: "claude-code", packages: "@anthropic-ai/claude-code", program: "claude",
		files: func(r *run) map[string]string {
			return map[string]string{".claude/settings.json": pretty(object{"includeCoAuthoredBy": false, "hooks": r.commandHooks("Stop")})}
		},
		env: func(r *run) []string {
			return []string{
				"ANTHROPIC_BASE_URL=" + r.model.url, "ANTHROPIC_API_KEY=any", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1",
			}
		},
		args: func(_ *run, prompt, session string) []string {
			args := []string{"-p", prompt, "--allowedTools", "Bash(*),mcp__amber__*", "--output-format", "stream-json", "--verbose"}
			return resumed(args, session, "--resume", session)
		},
		servers: []string{"mcp", "list"},
	}
}

func codex() host {
	return host{
		name: "codex", packages: "@openai/codex", program: "codex",
		files: func(r *run) map[string]string {
			return map[string]string{
				".codex/config.toml": "# mine\nmodel = \"" + modelName + "\"\nmodel_provider = \"local\"\n\n[model_providers.local]\nname = \"local\"\nbase_url = \"" +
					r.model.url + "/v1\"\nwire_api = \"responses\"\nrequest_max_retries = 0\n",
				".codex/hooks.json": pretty(object{"hooks": r.commandHooks("Stop")}),
			}
		},
		args: func(_ *run, prompt, session string) []string {
			args := resumed([]string{"exec"}, session, "resume", session)
			return append(args, "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox", prompt)
		},
		servers: []string{"mcp", "list"},
	}
}

func gemini() host {
	return host{
		name: "gemini", packages: "@google/gemini-cli", program: "gemini",
		files: func(r *run) map[string]string {
			return map[string]string{".gemini/settings.json": pretty(object{
				"security": object{"auth": object{"selectedType": "gemini-api-key"}}, "privacy": object{"usageStatisticsEnabled": false},
				"general": object{"enableAutoUpdate": false}, "hooks": r.commandHooks("AfterAgent"),
			})}
		},
		env: func(r *run) []string {
			return []string{"GEMINI_API_KEY=any", "GOOGLE_GEMINI_BASE_URL=" + r.model.url, "GEMINI_CLI_TRUST_WORKSPACE=true"}
		},
		args: func(_ *run, prompt, session string) []string {
			return resumed([]string{"-p", prompt, "--yolo", "-m", "gemini-2.5-pro"}, session, "--resume", "latest")
		},
		servers: []string{"mcp", "list"},
	}
}

func openCode() host {
	return host{
		name: "opencode", packages: "opencode-ai", program: "opencode", online: true,
		files: func(r *run) map[string]string {
			return map[string]string{
				".config/opencode/opencode.json": pretty(object{
					"autoupdate": false, "share": "disabled",
					"provider": object{"local": object{
						"npm": "@ai-sdk/openai-compatible", "name": "local", "options": object{"baseURL": r.model.url + "/v1", "apiKey": "any"},
						"models": object{modelName: object{"name": modelName}},
					}},
				}),
				".config/opencode/plugins/mine.js": fmt.Sprintf("import { writeFileSync } from \"node:fs\"\n"+
					"export const Mine = async () => {\n  writeFileSync(%q, \"\")\n  return {}\n}\n", filepath.Join(r.dir, "user-hook-plugin")),
			}
		},
		args: func(_ *run, prompt, session string) []string {
			// It puts quotes around an argument with spaces in it.
			return append(resumed([]string{"run", "-m", "local/" + modelName}, session, "--session", session), strings.Fields(prompt)...)
		},
		servers: []string{"mcp", "list"},
	}
}

func copilot() host {
	return host{
		name: "copilot", packages: "@github/copilot", program: "copilot",
		files: func(r *run) map[string]string {
			return map[string]string{".copilot/hooks/mine.json": pretty(object{"version": 1, "hooks": object{
				"agentStop": []any{object{"type": "command", "bash": r.hookOf("agentStop")}},
			}})}
		},
		env: func(r *run) []string {
			return []string{
				"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + r.model.url + "/v1", "COPILOT_PROVIDER_API_KEY=any",
				"COPILOT_MODEL=" + modelName, "COPILOT_AUTO_UPDATE=false",
			}
		},
		args: func(_ *run, prompt, session string) []string {
			return resumed([]string{"-p", prompt, "--allow-all-tools", "--allow-all-paths"}, session, "--resume="+session)
		},
		servers: []string{"mcp", "list"},
	}
}

func droid() host {
	return host{
		name: "droid", packages: "droid", program: "droid",
		files: func(r *run) map[string]string {
			return map[string]string{
				".factory/settings.json": pretty(object{"customModels": []any{object{
					"model": modelName, "displayName": modelName, "baseUrl": r.model.url + "/v1", "apiKey": "any",
					"provider": "generic-chat-completion-api", "maxOutputTokens": 1000,
				}}}),
				".factory/hooks/hooks.json": pretty(r.commandHooks("Stop")),
			}
		},
		env: func(*run) []string {
			return []string{"FACTORY_API_KEY=any", "FACTORY_DROID_AUTO_UPDATE_ENABLED=false"}
		},
		args: func(_ *run, prompt, _ string) []string {
			return []string{"exec", "--skip-permissions-unsafe", "-m", "custom:" + modelName + "-0", prompt}
		},
		once:    "Droid asks its servers for the session",
		servers: []string{"mcp", "list"},
	}
}
