package hook

// vsCode speaks as Claude Code does, but takes context only at the start of a
// session.
func vsCode() dialect {
	d := claudeCode()
	d.host, d.aliases = VSCode, []string{"vs-code", "code"}
	for i := range d.events {
		d.events[i].context = d.events[i].name == "SessionStart"
	}
	d.transcript = vsCodeTranscript()
	return d
}
