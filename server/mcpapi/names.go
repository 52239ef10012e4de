package mcpapi

// Names returns the name of every tool there is.
func Names() []string {
	var names []string
	for _, p := range profiles() {
		for _, t := range p.tools {
			names = append(names, t.Name)
		}
	}
	return names
}
