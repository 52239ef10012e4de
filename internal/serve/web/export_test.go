package web

// Functions that tests call directly: they draw the text of a stranger.
var (
	Markdown = markdown
	Marked   = marked
	Row      = row
	MaxDrawn = maxDrawn
)

// LastSteps are the last steps that the jobs noted, oldest job first.
func (p *Page) LastSteps() (steps []string) {
	p.jobs.mu.Lock()
	defer p.jobs.mu.Unlock()
	for _, j := range p.jobs.known {
		steps = append(steps, j.progress().Step)
	}
	return steps
}
