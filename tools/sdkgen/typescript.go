package sdkgen

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// typescriptHead begins the files for TypeScript.
const typescriptHead = "// Made from the OpenAPI document of the server by tools/sdkgen. Changes here are lost.\n\n"

// typescriptKind is a type as it is answered, or as it is given where asked is true. Words of an answer may be new ones of
// a newer server.
func typescriptKind(k kind, asked bool) string {
	open := func(words string) string {
		if asked {
			return words
		}
		return words + " | (string & {})"
	}
	var t string
	switch {
	case k.word:
		t = open(k.ref)
	case k.ref != "":
		t = k.ref
	case k.array != nil:
		t = typescriptKind(*k.array, asked)
		if strings.Contains(t, "|") {
			t = "(" + t + ")"
		}
		if asked {
			t = "readonly " + t
		}
		t += "[]"
	case k.values != nil:
		t = "Record<string, " + typescriptKind(*k.values, asked) + ">"
	case len(k.enum) > 0:
		t = open(typescriptWords(k.enum))
	default:
		t = map[string]string{"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "time": "Time", "bytes": "Base64", "any": "unknown"}[k.base]
		if asked && k.base == "time" {
			t = "Time | Date"
		}
		if asked && k.base == "bytes" {
			t = "Uint8Array | Base64"
		}
	}
	if k.nullable && t != "unknown" {
		return t + " | null"
	}
	return t
}

func typescriptWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(quoted, " | ")
}

// comment is a text as the documentation of what is below it.
func comment(indent string, texts ...string) string {
	var lines []string
	for _, t := range texts {
		t = strings.TrimSpace(strings.ReplaceAll(t, "*/", "* /"))
		if t == "" {
			continue
		}
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		for line := range strings.SplitSeq(t, "\n") {
			lines = append(lines, wrap(line, 116-len(indent))...)
		}
	}
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return indent + "/** " + lines[0] + " */\n"
	}
	var b strings.Builder
	b.WriteString(indent + "/**\n")
	for _, l := range lines {
		b.WriteString(strings.TrimRight(indent+" * "+l, " ") + "\n")
	}
	b.WriteString(indent + " */\n")
	return b.String()
}

// typescriptModels makes the types of answers and of what is given.
func typescriptModels(a api) string {
	var b strings.Builder
	b.WriteString(typescriptHead)
	b.WriteString(comment("", "A moment in the form of RFC 3339, as 2026-01-02T03:04:05.678Z. `new Date(time)` reads it."))
	b.WriteString("export type Time = string;\n\n")
	b.WriteString(comment("", "Bytes as base64. `Buffer.from(text, \"base64\")` reads them."))
	b.WriteString("export type Base64 = string;\n")
	answered := answeredModels(a)
	for _, m := range a.models {
		b.WriteString("\n" + comment("", m.description))
		switch {
		case len(m.words) > 0:
			fmt.Fprintf(&b, "export type %s = %s;\n", m.name, typescriptWords(m.words))
		case len(m.fields) == 0:
			fmt.Fprintf(&b, "export type %s = Record<string, unknown>;\n", m.name)
		default:
			fmt.Fprintf(&b, "export interface %s {\n", m.name)
			for _, f := range m.fields {
				b.WriteString(typescriptField(f, f.wire, !answered[m.name]))
			}
			b.WriteString("}\n")
		}
	}
	return b.String()
}

// answeredModels are the models that an answer may hold. All others are only given.
func answeredModels(a api) map[string]bool {
	fields := map[string][]field{}
	for _, m := range a.models {
		fields[m.name] = m.fields
	}
	found := map[string]bool{}
	var visit func(kind)
	visit = func(k kind) {
		switch {
		case k.array != nil:
			visit(*k.array)
		case k.values != nil:
			visit(*k.values)
		case k.ref != "" && !found[k.ref]:
			found[k.ref] = true
			for _, f := range fields[k.ref] {
				visit(f.kind)
			}
		}
	}
	for _, g := range a.groups {
		for _, o := range g.operations {
			visit(o.result)
		}
	}
	return found
}

func typescriptField(f field, name string, asked bool) string {
	mark, t := "", typescriptKind(f.kind, asked)
	if !f.required {
		mark = "?"
		if asked && t != "unknown" {
			t += " | undefined" // also for programs with exactOptionalPropertyTypes
		}
	}
	return fmt.Sprintf("%s  %s%s: %s;\n", comment("  ", f.description), name, mark, t)
}

// typescriptOperations makes the table of operations, and the methods.
func typescriptOperations(a api) string {
	var b strings.Builder
	var ids, entries strings.Builder
	for _, g := range a.groups {
		for _, o := range g.operations {
			fmt.Fprintf(&ids, "\n  | %q", o.id)
			entries.WriteString(typescriptEntry(o))
		}
	}
	b.WriteString(comment("", "The id of an operation."))
	fmt.Fprintf(&b, "export type OperationId =%s;\n\n", ids.String())
	b.WriteString(comment("", "Every operation by its id: how it travels, and what it is given and answers."))
	fmt.Fprintf(&b, "export const operations: Readonly<Record<OperationId, Operation>> = {\n%s};\n", entries.String())
	for _, g := range a.groups {
		for _, o := range g.operations {
			b.WriteString(typescriptArguments(o))
		}
		b.WriteString(typescriptGroup(g))
	}
	b.WriteString(typescriptRoot(a))
	return typescriptHead + typescriptImports(a, b.String()) + b.String()
}

// typescriptImports names what a text takes from other files.
func typescriptImports(a api, text string) string {
	used := map[string]bool{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "*") || strings.HasPrefix(line, "/**") {
			continue // words of the documentation
		}
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			used[word] = true
		}
	}
	names := []string{"Base64", "Time"}
	for _, m := range a.models {
		names = append(names, m.name)
	}
	var b strings.Builder
	b.WriteString("import type { CallOptions, Caller, FileAnswer, Listing, Operation, Stream, Upload } from \"../call.js\";\nimport type {\n")
	for _, n := range slices.Sorted(slices.Values(names)) {
		if used[n] {
			fmt.Fprintf(&b, "  %s,\n", n)
		}
	}
	return b.String() + "} from \"./models.js\";\n\n"
}

// typescriptEntry is the line of an operation in the table.
func typescriptEntry(o operation) string {
	names := func(fields []field) string {
		parts := make([]string, len(fields))
		for i, f := range fields {
			parts[i] = fmt.Sprintf("%s: %q", f.name, f.wire)
		}
		if len(parts) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return fmt.Sprintf("  %q: {\n    id: %q,\n    method: %q,\n    path: %q,\n    variables: %s,\n    query: %s,\n    headers: %s,\n    body: %s,\n    raw: %v,\n    key: %v,\n    changes: %v,\n    long: %v,\n    paged: %v,\n    answer: %q,\n  },\n",
		o.id, o.id, o.method, o.path, names(o.variables), names(o.parameters), names(o.headers), typescriptBody(o, names), o.raw, o.key, o.mutates, o.long, o.paged, o.answer)
}

// typescriptBody are the names in the body; null where there is none.
func typescriptBody(o operation, names func([]field) string) string {
	if len(o.body) == 0 {
		return "null"
	}
	return names(o.body)
}

// given are the fields of the object that a method takes, required ones first.
func given(o operation) []field {
	all := slices.Concat(o.body, o.parameters, o.headers)
	slices.SortStableFunc(all, func(a, b field) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
	return all
}

// typescriptName is the id of an operation as part of the name of a type.
func typescriptName(o operation) string { return camel(strings.ReplaceAll(o.id, ".", "_")) }

// typescriptArguments is the type of the object that a method takes.
func typescriptArguments(o operation) string {
	fields := given(o)
	if len(fields) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n" + comment("", "What "+o.id+" is given."))
	fmt.Fprintf(&b, "export interface %sArgs {\n", typescriptName(o))
	for _, f := range fields {
		b.WriteString(typescriptField(f, f.name, true))
	}
	b.WriteString("}\n")
	return b.String()
}

func typescriptGroup(g group) string {
	var b strings.Builder
	b.WriteString("\n" + comment("", g.description))
	fmt.Fprintf(&b, "export class %sOperations {\n  readonly #caller: Caller;\n\n  constructor(caller: Caller) {\n    this.#caller = caller;\n  }\n", camel(g.name))
	for _, o := range g.operations {
		b.WriteString(typescriptMethod(o))
	}
	b.WriteString("}\n")
	return b.String()
}

// typescriptResult is what a method returns.
func typescriptResult(o operation) string {
	t := typescriptKind(o.result, false)
	switch o.answer {
	case answerNone:
		return "Promise<void>"
	case answerList:
		return "Listing<" + t + ">"
	case answerStream:
		return "Stream<" + t + ">"
	case answerFile:
		return "FileAnswer"
	}
	return "Promise<" + t + ">"
}

func typescriptMethod(o operation) string {
	var parameters, variables []string
	for _, f := range o.variables {
		parameters = append(parameters, f.name+": "+typescriptKind(f.kind, true))
		variables = append(variables, f.name)
	}
	data, args := "", "{}"
	if o.raw {
		parameters = append(parameters, "data: Upload")
		data = ", data"
	}
	if fields := given(o); len(fields) > 0 {
		args = "args"
		def := " = {}"
		if fields[0].required {
			def = ""
		}
		parameters = append(parameters, "args: "+typescriptName(o)+"Args"+def)
	}
	parameters = append(parameters, "options: CallOptions = {}")
	verb := map[string]string{answerNone: "done", answerJSON: "ask", answerList: "listing", answerStream: "stream", answerFile: "file"}[o.answer]
	var about []string
	for _, f := range o.variables {
		if f.description != "" {
			about = append(about, "@param "+f.name+" "+f.description)
		}
	}
	return fmt.Sprintf("\n%s  %s(%s): %s {\n    return this.#caller.%s(operations[%q], [%s], %s, options%s);\n  }\n",
		comment("  ", sentence(o.summary), more(o), strings.Join(about, "\n")), o.name, strings.Join(parameters, ", "), typescriptResult(o), verb, o.id, strings.Join(variables, ", "), args, data)
}

// typescriptRoot is the class that has all of them.
func typescriptRoot(a api) string {
	var b strings.Builder
	b.WriteString("\n" + comment("", "Every operation, by the kind of thing it is about."))
	b.WriteString("export class Operations {\n")
	for _, g := range a.groups {
		fmt.Fprintf(&b, "%s  readonly %s: %sOperations;\n", comment("  ", g.description), g.name, camel(g.name))
	}
	b.WriteString("\n  constructor(caller: Caller) {\n")
	for _, g := range a.groups {
		fmt.Fprintf(&b, "    this.%s = new %sOperations(caller);\n", g.name, camel(g.name))
	}
	b.WriteString("  }\n}\n")
	return b.String()
}
