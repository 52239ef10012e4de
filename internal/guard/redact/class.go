package redact

// class is a set of bytes.
type class struct{ has [256]bool }

// newClass makes a class of single bytes and ranges such as "a-z"; a hyphen
// that means itself stands last.
func newClass(expr string) class {
	var c class
	for i := 0; i < len(expr); i++ {
		from, to := expr[i], expr[i]
		if i+2 < len(expr) && expr[i+1] == '-' {
			to = expr[i+2]
			i += 2
		}
		for b := int(from); b <= int(to); b++ {
			c.has[b] = true
		}
	}
	return c
}

// run returns where the bytes of the class that begin at from end, at the
// latest at hi.
func (c *class) run(text string, from, hi int) int {
	for from < hi && c.has[text[from]] {
		from++
	}
	return from
}

// padded is run for base64: up to two equals signs may follow.
func (c *class) padded(text string, from, hi int) int {
	end := c.run(text, from, hi)
	for pad := 0; pad < 2 && end > from && end < hi && text[end] == '='; pad++ {
		end++
	}
	return end
}

// The classes keys are made of. None holds a bracket, quote or backslash.
var (
	digits     = newClass("0-9")
	hexLower   = newClass("0-9a-f")
	hexAny     = newClass("0-9A-Fa-f")
	lowerAlnum = newClass("0-9a-z")
	upperAlnum = newClass("0-9A-Z")
	alnum      = newClass("0-9A-Za-z")
	wordByte   = newClass("0-9A-Za-z_")
	urlSafe    = newClass("0-9A-Za-z_-")
	dotted     = newClass("0-9A-Za-z_.-")
	base64Std  = newClass("0-9A-Za-z+/")
	base64Pad  = newClass("0-9A-Za-z+/=")
	credential = newClass("0-9A-Za-z._~+/-")

	alnumDash    = newClass("0-9A-Za-z-")
	azureByte    = newClass("0-9A-Za-z_~.-")
	base64Word   = newClass("0-9A-Za-z+/=_")
	djangoByte   = newClass("!#$%&()*+0-9=@A-Z^_a-z-")
	dotPad       = newClass("0-9A-Za-z.+/=-")
	dotWord      = newClass("0-9A-Za-z._")
	pathSafe     = newClass("0-9A-Za-z/_-")
	percentAlnum = newClass("0-9A-Za-z%=")
	slackByte    = newClass("0-9A-Za-z%-")
	slackTail    = newClass("0-9A-Za-z%+/=-")
	tokenPad     = newClass("0-9A-Za-z_.=-")
	upperWord    = newClass("0-9A-Z_")
	urlPad       = newClass("0-9A-Za-z_=-")
)

// lower folds an ASCII letter.
func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
