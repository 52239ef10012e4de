package web

// Functions that tests call directly: they draw the text of a stranger.
var (
	Markdown = markdown
	Marked   = marked
	Row      = row
	MaxDrawn = maxDrawn
)
