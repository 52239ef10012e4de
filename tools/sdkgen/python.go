package sdkgen

import (
	"fmt"
	"slices"
	"strings"
)

// pythonHead begins the files for Python.
const pythonHead = "# Made from the OpenAPI document of the server by tools/sdkgen. Changes here are lost.\n"

// pythonWords are names that Python keeps for itself, or that methods need.
var pythonWords = []string{"from", "import", "class", "global", "pass", "None", "async", "await", "in", "is", "not", "or", "and", "if", "else", "lambda", "return", "self"}

// pythonModelWords are names that models have already.
var pythonModelWords = []string{"schema", "copy", "json", "dict", "construct", "validate"}

func pythonName(name string) string {
	if slices.Contains(pythonWords, name) {
		return name + "_"
	}
	return name
}

// pythonKind is a type as it is answered. Words may be new ones of a newer server.
func pythonKind(k kind) string {
	var t string
	switch {
	case k.word:
		t = "Union[" + k.ref + ", str]"
	case k.ref != "":
		t = k.ref
	case k.array != nil:
		t = "List[" + pythonKind(*k.array) + "]"
	case k.values != nil:
		t = "Dict[str, " + pythonKind(*k.values) + "]"
	case len(k.enum) > 0:
		t = "Union[" + literal(k.enum) + ", str]"
	default:
		t = map[string]string{"string": "str", "integer": "int", "number": "float", "boolean": "bool", "time": "datetime", "bytes": "Base64", "any": "Any"}[k.base]
	}
	if k.nullable {
		return "Optional[" + t + "]"
	}
	return t
}

// pythonAsked is a type as it is given. An object may be a model or a dictionary.
func pythonAsked(k kind) string {
	switch {
	case k.word:
		return k.ref
	case k.ref != "":
		return "Union[" + k.ref + ", Mapping[str, Any]]"
	case k.array != nil:
		return "Sequence[" + pythonAsked(*k.array) + "]"
	case k.values != nil:
		return "Mapping[str, " + pythonAsked(*k.values) + "]"
	case len(k.enum) > 0:
		return literal(k.enum)
	case k.base == "time":
		return "Union[datetime, str]"
	case k.base == "bytes":
		return "bytes"
	}
	k.nullable = false
	return pythonKind(k)
}

func literal(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = fmt.Sprintf("%q", w)
	}
	return "Literal[" + strings.Join(quoted, ", ") + "]"
}

// wrap breaks a text into lines of at most width characters.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// docstring is a text as the documentation of what is above it.
func docstring(indent string, texts ...string) string {
	var paragraphs []string
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			paragraphs = append(paragraphs, t)
		}
	}
	if len(paragraphs) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\"\"\"", indent)
	for i, p := range paragraphs {
		if i > 0 {
			b.WriteString("\n")
		}
		for j, line := range strings.Split(p, "\n") {
			hang := line[:len(line)-len(strings.TrimLeft(line, " "))]
			for k, l := range wrap(strings.NewReplacer(`\`, `\\`, `"""`, `'''`).Replace(line), 96-len(indent)-2*len(hang)) {
				if k > 0 && hang != "" {
					l = hang + l
				}
				if i+j+k > 0 {
					b.WriteString("\n" + strings.TrimRight(indent+hang+l, " "))
				} else {
					b.WriteString(l)
				}
			}
		}
	}
	if strings.Contains(b.String(), "\n") {
		b.WriteString("\n" + indent)
	} else if strings.HasSuffix(b.String(), `"`) {
		b.WriteString(" ")
	}
	b.WriteString("\"\"\"\n")
	return b.String()
}

// pythonModels makes the models of answers.
func pythonModels(a api) string {
	var b strings.Builder
	b.WriteString(pythonHead + `"""What travels between Amber and its clients."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Dict, List, Literal, Optional, Union

from pydantic import Field

from ._model import Base64, Model

`)
	var names, objects []string
	for _, m := range a.models {
		names = append(names, m.name)
	}
	b.WriteString("__all__ = [\n")
	for _, n := range names {
		fmt.Fprintf(&b, "    %q,\n", n)
	}
	b.WriteString("]\n")
	for _, m := range a.models {
		if len(m.words) > 0 {
			fmt.Fprintf(&b, "\n\n%s = %s\n%s", m.name, literal(m.words), docstring("", m.description))
			continue
		}
		objects = append(objects, m.name)
		fmt.Fprintf(&b, "\n\nclass %s(Model):\n", m.name)
		doc := docstring("    ", m.description)
		b.WriteString(doc)
		if len(m.fields) == 0 && doc == "" {
			b.WriteString("    pass\n")
		}
		for _, f := range m.fields {
			if doc != "" || f.wire != m.fields[0].wire {
				b.WriteString("\n")
			}
			b.WriteString(pythonField(f))
		}
	}
	b.WriteString("\n\nfor _model in (\n")
	for _, n := range objects {
		fmt.Fprintf(&b, "    %s,\n", n)
	}
	b.WriteString("):\n    _model.model_rebuild()\n")
	return b.String()
}

func pythonField(f field) string {
	name, t := pythonName(f.name), pythonKind(f.kind)
	if slices.Contains(pythonModelWords, name) || strings.HasPrefix(name, "model_") {
		name += "_"
	}
	var options []string
	switch {
	case f.required && f.kind.nullable:
		options = append(options, "default=None")
	case f.required:
	case f.kind.array != nil:
		options = append(options, "default=[]") // it is copied
	case f.kind.values != nil:
		options = append(options, "default={}")
	case strings.HasPrefix(t, "Optional["), t == "Any":
		options = append(options, "default=None")
	default:
		t = "Optional[" + t + "]"
		options = append(options, "default=None")
	}
	if name != f.wire {
		options = append(options, fmt.Sprintf("alias=%q", f.wire))
	}
	line := fmt.Sprintf("    %s: %s", name, t)
	switch {
	case len(options) == 1 && strings.HasPrefix(options[0], "default="):
		line += " = " + strings.TrimPrefix(options[0], "default=")
	case len(options) > 0:
		line += " = Field(" + strings.Join(options, ", ") + ")"
	}
	return line + "\n" + docstring("    ", f.description)
}

// pythonOperations makes the methods, for callers that wait and for those that do not.
func pythonOperations(a api) string {
	var b strings.Builder
	b.WriteString(pythonHead + `"""The operations of the API: one class for each kind of thing, in two manners."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Mapping, Optional, Sequence, Union

from ._call import AsyncCaller, AsyncFile, AsyncListing, AsyncStream, Caller, File, Listing, Operation, Stream, Upload, AsyncUpload
from ._models import *  # noqa: F403

`)
	for _, g := range a.groups {
		for _, o := range g.operations {
			b.WriteString(pythonConstant(o))
		}
	}
	for _, async := range []bool{false, true} {
		for _, g := range a.groups {
			b.WriteString(pythonGroup(g, async))
		}
		b.WriteString(pythonRoot(a, async))
	}
	return b.String()
}

func pythonConstant(o operation) string {
	words := []string{fmt.Sprintf("%q, %q, %q, answer=%q", o.id, o.method, o.path, o.answer)}
	if o.key {
		words = append(words, "key=True")
	}
	if o.paged {
		words = append(words, "paged=True")
	}
	if o.long {
		words = append(words, "long=True")
	}
	return fmt.Sprintf("%s = Operation(%s)\n", pythonConstantName(o), strings.Join(words, ", "))
}

func pythonConstantName(o operation) string {
	return "_" + strings.ToUpper(strings.ReplaceAll(o.id, ".", "_"))
}

func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

func pythonClass(g group, async bool) string {
	if async {
		return "Async" + camel(g.name) + "Operations"
	}
	return camel(g.name) + "Operations"
}

func pythonGroup(g group, async bool) string {
	var b strings.Builder
	caller := "Caller"
	if async {
		caller = "AsyncCaller"
	}
	fmt.Fprintf(&b, "\n\nclass %s:\n", pythonClass(g, async))
	b.WriteString(docstring("    ", g.description))
	fmt.Fprintf(&b, "\n    def __init__(self, caller: %s) -> None:\n        self._caller = caller\n", caller)
	for _, o := range g.operations {
		b.WriteString(pythonMethod(o, async))
	}
	return b.String()
}

// pythonResult is what a method returns.
func pythonResult(o operation, async bool) string {
	prefix := ""
	if async {
		prefix = "Async"
	}
	switch o.answer {
	case answerNone:
		return "None"
	case answerList:
		return prefix + "Listing[" + pythonKind(o.result) + "]"
	case answerStream:
		return prefix + "Stream[" + pythonKind(o.result) + "]"
	case answerFile:
		return prefix + "File"
	}
	return pythonKind(o.result)
}

func pythonMethod(o operation, async bool) string {
	var b strings.Builder
	waits := async && (o.answer == answerNone || o.answer == answerJSON)
	def := "def"
	if waits {
		def = "async def"
	}
	fmt.Fprintf(&b, "\n    %s %s(\n        self,\n", def, pythonName(o.name))
	for _, f := range o.variables {
		fmt.Fprintf(&b, "        %s: %s,\n", pythonName(f.name), pythonAsked(f.kind))
	}
	if o.raw {
		upload := "Upload"
		if async {
			upload = "AsyncUpload"
		}
		fmt.Fprintf(&b, "        data: %s,\n", upload)
	}
	for _, f := range o.body {
		if f.required {
			fmt.Fprintf(&b, "        %s: %s,\n", pythonName(f.name), pythonAsked(f.kind))
		}
	}
	var rest []string
	for _, f := range slices.Concat(o.body, o.parameters, o.headers) {
		switch {
		case f.required && slices.ContainsFunc(o.body, func(g field) bool { return g.name == f.name }):
		case f.required:
			rest = append(rest, fmt.Sprintf("        %s: %s,\n", pythonName(f.name), pythonAsked(f.kind)))
		default:
			rest = append(rest, fmt.Sprintf("        %s: Optional[%s] = None,\n", pythonName(f.name), pythonAsked(f.kind)))
		}
	}
	if o.key {
		rest = append(rest, "        idempotency_key: Optional[str] = None,\n")
	}
	if len(rest) > 0 {
		b.WriteString("        *,\n" + strings.Join(rest, ""))
	}
	fmt.Fprintf(&b, "    ) -> %s:\n", pythonResult(o, async))
	b.WriteString(docstring("        ", sentence(o.summary), more(o), pythonArguments(o)))
	b.WriteString(pythonCall(o, async, waits))
	return b.String()
}

// sentence is a text with a full stop.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// more is the description of an operation, where it is not the summary again.
func more(o operation) string {
	if sentence(o.description) == sentence(o.summary) {
		return ""
	}
	return strings.TrimSpace(strings.TrimPrefix(o.description, sentence(o.summary)))
}

// pythonArguments describes the arguments.
func pythonArguments(o operation) string {
	var lines []string
	for _, f := range slices.Concat(o.variables, o.body, o.parameters, o.headers) {
		if f.description != "" {
			lines = append(lines, fmt.Sprintf("    %s: %s", pythonName(f.name), f.description))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "Arguments:\n" + strings.Join(lines, "\n")
}

// pythonCall is the body of a method.
func pythonCall(o operation, async, waits bool) string {
	dict := func(fields []field) string {
		parts := make([]string, len(fields))
		for i, f := range fields {
			parts[i] = fmt.Sprintf("%q: %s", f.wire, pythonName(f.name))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	args := []string{pythonConstantName(o)}
	if len(o.variables) > 0 {
		args = append(args, "path="+dict(o.variables))
	}
	if len(o.parameters) > 0 {
		args = append(args, "query="+dict(o.parameters))
	}
	if len(o.headers) > 0 {
		args = append(args, "headers="+dict(o.headers))
	}
	if len(o.body) > 0 {
		args = append(args, "body="+dict(o.body))
	}
	if o.raw {
		args = append(args, "data=data")
	}
	if o.key {
		args = append(args, "key=idempotency_key")
	}
	verb := map[string]string{answerNone: "done", answerJSON: "ask", answerList: "listing", answerStream: "stream", answerFile: "file"}[o.answer]
	if o.answer == answerJSON || o.answer == answerList || o.answer == answerStream {
		args = append([]string{pythonKind(o.result)}, args...)
	}
	await := ""
	if waits {
		await = "await "
	}
	ret := "return "
	if o.answer == answerNone {
		ret = ""
	}
	return fmt.Sprintf("        %s%sself._caller.%s(\n            %s,\n        )\n", ret, await, verb, strings.Join(args, ",\n            "))
}

// pythonRoot is the class that has all of them.
func pythonRoot(a api, async bool) string {
	var b strings.Builder
	name, caller := "Operations", "Caller"
	if async {
		name, caller = "AsyncOperations", "AsyncCaller"
	}
	fmt.Fprintf(&b, "\n\nclass %s:\n    \"\"\"Every operation, by the kind of thing it is about.\"\"\"\n\n    def __init__(self, caller: %s) -> None:\n", name, caller)
	for _, g := range a.groups {
		fmt.Fprintf(&b, "        self.%s = %s(caller)\n", pythonName(g.name), pythonClass(g, async))
	}
	return b.String()
}
