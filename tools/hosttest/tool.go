package main

import "slices"

// tool is a tool that a host offers to the model.
type tool struct {
	name   string
	schema object // of its input
}

// shells are the names that hosts give to the tool that runs a command.
var shells = []string{"Bash", "bash", "shell", "shell_command", "exec_command", "run_shell_command", "Execute", "powershell"}

const toolOutput = "amber-tool-ran"

// shellInput returns the input that makes a shell tool print [toolOutput], false
// for another tool.
func (t tool) shellInput() (object, bool) {
	if !slices.Contains(shells, t.name) {
		return nil, false
	}
	properties, _ := t.schema["properties"].(object)
	input, named := object{}, false
	for _, key := range []string{"command", "cmd", "script"} {
		if p, ok := properties[key].(object); ok && !named {
			named = true
			input[key] = "echo " + toolOutput
			if p["type"] == "array" {
				input[key] = []string{"sh", "-c", "echo " + toolOutput}
			}
		}
	}
	required, _ := t.schema["required"].([]any)
	for _, r := range required {
		key, _ := r.(string)
		if _, given := input[key]; !given && key != "" {
			p, _ := properties[key].(object)
			input[key] = sample(p)
		}
	}
	return input, named
}

// sample is a value of the type that a schema asks for.
func sample(schema object) any {
	if of, ok := schema["enum"].([]any); ok && len(of) > 0 {
		return of[0]
	}
	switch schema["type"] {
	case "number", "integer":
		return 10
	case "boolean":
		return false
	case "array":
		return []any{}
	case "object":
		return object{}
	}
	return "prints a word"
}
