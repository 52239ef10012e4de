package hook

// droid is Factory's, and speaks as Claude Code does.
func droid() dialect {
	d := claudeCode()
	d.host, d.aliases = Droid, []string{"factory", "factory-droid", "factory-cli"}
	d.fill, d.transcript = fillDroid, droidTranscript()
	return d
}
