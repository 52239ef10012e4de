//go:build !amd64

package embed

func isPlain() bool { return true }

func (w *work) product(out []float32, l *linear, add []float32) { w.productPlain(out, l, add) }

func bounds(in []float32) (least, most float32) { return boundsPlain(in) }

func toBytes(q []byte, in []float32, by float32, zero int32) { toBytesPlain(q, in, by, zero) }

func gelu(x []float32) { geluPlain(x) }

func (n layerNorm) apply(x []float32, rows int) { n.applyPlain(x, rows) }

func (m *Model) attend(w *work) { m.attendPlain(w) }
