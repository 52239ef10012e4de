package web_test

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/amber-memory/amber/internal/test/must"
)

var (
	shots    = flag.String("shots", "", "folder for a picture of every screen that the browser suite looks at")
	pictures = flag.String("pictures", "", "folder for the pictures of the documentation")
	terminal = flag.String("terminal", "", "what a terminal shows, with its colours, as tmux capture-pane -ep prints it: becomes terminal.png among the pictures")
)

// shoot takes a picture of the whole page, if pictures are wanted.
func (b *tab) shoot(name string, l look) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", r) {
			return r
		}
		return '_'
	}, name)
	must.Do(b.t, os.MkdirAll(*shots, 0o755))
	picture := run(b, chromedp.FullScreenshot(100))
	must.Do(b.t, os.WriteFile(filepath.Join(*shots, name+"-"+strings.ReplaceAll(l.String(), " ", "-")+".png"), picture, 0o644))
}

// maxPicture is how large a picture of the documentation may be.
const maxPicture = 150_000

// TestPictures makes the pictures of the documentation: make pictures.
func TestPictures(t *testing.T) {
	t.Parallel()
	if *pictures == "" {
		t.Skip("makes pictures with -pictures only")
	}
	c, r := openBrowser(t), newRig(t)
	p := r.sample("acme", "ada")
	must.Do(t, r.agent("acme", "ada").CompleteIndex(t.Context()))
	b := c.tab(t)
	b.look(look{width: 1280})
	b.open(r.url + adaHome + "/recall?q=how+do+we+round+money&project=shop")
	eval[chromedp.Void](b, `document.querySelector("details").open = true`)
	b.picture("page-light.png")
	b.look(look{width: 1280, dark: true})
	b.open(r.url + adaHome + "/memories/" + string(p.memory))
	b.leads(chromedp.Click(chromedp.CSS(".theme button")))
	b.await(`document.documentElement.dataset.theme === "dark"`)
	eval[chromedp.Void](b, `document.activeElement.blur()`)
	b.picture("page-dark.png")
	if *terminal != "" {
		b.terminalPicture(string(must.Get(os.ReadFile(*terminal))(t)))
	}
}

// picture keeps what the window shows.
func (b *tab) picture(name string) {
	b.t.Helper()
	b.keep(name, run(b, chromedp.CaptureScreenshot()))
}

// keep writes a picture with at most 256 colours.
func (b *tab) keep(name string, picture []byte) {
	b.t.Helper()
	from := must.Get(png.Decode(bytes.NewReader(picture)))(b.t)
	var out bytes.Buffer
	must.Do(b.t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, fewColours(from)))
	if out.Len() > maxPicture {
		b.t.Errorf("%s has %d bytes, want at most %d", name, out.Len(), maxPicture)
	}
	must.Do(b.t, os.MkdirAll(*pictures, 0o755))
	must.Do(b.t, os.WriteFile(filepath.Join(*pictures, name), out.Bytes(), 0o644))
}

// fewColours draws a picture with the colours that it has most of.
func fewColours(from image.Image) image.Image {
	count := map[color.Color]int{}
	area := from.Bounds()
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			count[from.At(x, y)]++
		}
	}
	most := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return cmp.Compare(count[b], count[a]) })
	palette := unlike(most)
	nearest := map[color.Color]uint8{}
	to := image.NewPaletted(area, palette)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			c := from.At(x, y)
			if _, ok := nearest[c]; !ok {
				nearest[c] = uint8(palette.Index(c))
			}
			to.SetColorIndex(x, y, nearest[c])
		}
	}
	return to
}

// unlike takes colours in their order, up to 256, and leaves out those that are much like one that it has.
func unlike(colours []color.Color) (palette color.Palette) {
	for _, c := range colours {
		if len(palette) == 256 {
			break
		}
		r, g, b, _ := c.RGBA()
		if !slices.ContainsFunc(palette, func(have color.Color) bool {
			hr, hg, hb, _ := have.RGBA()
			return max(apart(r, hr), apart(g, hg), apart(b, hb)) < 0x0a00
		}) {
			palette = append(palette, c)
		}
	}
	return palette
}

func apart(a, b uint32) uint32 { return max(a, b) - min(a, b) }

// terminalPicture draws what a terminal showed.
func (b *tab) terminalPicture(pane string) {
	b.t.Helper()
	b.look(look{width: 1400, dark: true})
	run(b, chromedp.Navigate("about:blank"))
	tree := call(b, cdpage.GetFrameTree, cdp.Empty{})
	call(b, cdpage.SetDocumentContent, cdpage.SetDocumentContentParams{FrameID: tree.FrameTree.Frame.ID, HTML: terminalPage(pane)})
	b.keep("terminal.png", run(b, chromedp.Screenshot(chromedp.CSS("pre"))))
}
