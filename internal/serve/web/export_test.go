package web

// Functions that tests call directly: they draw the text of a stranger.
var (
	Markdown = markdown
	Marked   = marked
	Row      = row
	MaxDrawn = maxDrawn
	Clean    = clean
)

// Drawn is Markdown as it is drawn before it is cleaned.
func Drawn(s string) string {
	b := bounded{most: maxDrawn}
	if nesting(s) > maxNested || reader(cells(s) <= maxCells).Convert([]byte(visible(s)), &b) != nil {
		return ""
	}
	return visible(b.String())
}

// LastSteps are the last steps that the jobs noted, oldest job first.
func (p *Page) LastSteps() (steps []string) {
	p.jobs.mu.Lock()
	defer p.jobs.mu.Unlock()
	for _, j := range p.jobs.known {
		steps = append(steps, j.progress().Step)
	}
	return steps
}
