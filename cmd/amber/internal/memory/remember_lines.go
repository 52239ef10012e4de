package memory

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
)

// maxLine bounds one line of --jsonl: the largest memory, escaped, with metadata
// and the fields of another tool.
const maxLine = 16 * amber.MaxContentBytes

// rememberLines stores one memory per line of stdin, a batch at a time.
func (a *app) rememberLines(ctx context.Context, s *cli.Opened, f rememberFlags) error {
	w := &lineWriter{ctx: ctx, opened: s, acks: []amber.WriteAck{}, told: &a.Meter}
	_, err := cli.Working(a.App, "storing", func() (struct{}, error) { return struct{}{}, a.readLines(w, f) })
	if err != nil {
		return err
	}
	return a.Out.Show(amber.Page[amber.WriteAck]{Items: w.acks}, func(out io.Writer) {
		known, left := 0, 0
		for _, ack := range w.acks {
			fmt.Fprintln(out, ack.ID)
			if ack.Deduplicated {
				known++
			}
			if len(ack.NotTaken) > 0 {
				left++
			}
		}
		if known > 0 {
			a.Out.Note("%d of %d were stored already", known, len(w.acks))
		}
		if left > 0 {
			a.Out.Note("for %d of them something was not taken, since the stored memory says otherwise; --json shows what", left)
		}
	})
}

// readLines stores the memories on stdin. It reads and checks the next ones while it writes a batch.
func (a *app) readLines(w *lineWriter, f rememberFlags) error {
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	r := &lineReader{app: a, ctx: ctx, opened: w.opened, flags: f.IdentityFlags, batches: make(chan lineBatch, 1)}
	go r.read()
	for b := range r.batches {
		if b.err != nil {
			return w.fail(b.where, b.err)
		}
		if err := w.write(b); err != nil {
			return err
		}
	}
	if r.dropped {
		return w.fail(fmt.Sprintf("line %d", r.line), cli.Interruption("read stdin"))
	}
	return nil
}

// lineBatch is what is written at once, or why no more can be read.
type lineBatch struct {
	requests []amber.WriteRequest
	bytes    int // as they were read
	ends     int // the last line
	where    string
	err      error
}

// lineReader makes batches of lines. Where it stops before the end, the lines that are in no
// batch yet are not written.
type lineReader struct {
	app     *app
	ctx     context.Context
	opened  *cli.Opened
	flags   cli.IdentityFlags
	line    int // read so far
	batch   lineBatch
	batches chan lineBatch
	dropped bool // something was not sent; to be read once batches is closed
}

func (r *lineReader) read() {
	defer close(r.batches)
	if where, err := r.lines(); err != nil {
		r.send(lineBatch{where: where, err: err})
		return
	}
	r.flush()
}

func (r *lineReader) lines() (where string, err error) {
	in := bufio.NewScanner(r.app.In())
	in.Buffer(make([]byte, 0, 64<<10), maxLine)
	for in.Scan() {
		r.line++
		if err := r.take(in.Bytes()); err != nil {
			return fmt.Sprintf("line %d", r.line), err
		}
	}
	if err := in.Err(); err != nil {
		if amber.KindOf(err) != amber.KindUnreachable {
			err = &amber.Error{Op: "read stdin", Kind: amber.KindInvalid, Err: err}
		}
		return fmt.Sprintf("line %d", r.line+1), err
	}
	return "", nil
}

func (r *lineReader) take(line []byte) error {
	if r.ctx.Err() != nil { // the line may be the half of one
		return cli.Interruption("read stdin")
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	request, err := parseLine(line)
	if err == nil {
		request, err = r.app.Place(r.ctx, r.opened, request, r.flags)
	}
	if err == nil {
		_, err = request.Normalize()
	}
	if err != nil {
		return err
	}
	r.add(request, len(line))
	return nil
}

// maxBatchBytes is how much is written at once, so that a batch fits into one
// request to a server, also where its text gets longer in JSON.
const maxBatchBytes = 3 << 20

func (r *lineReader) add(request amber.WriteRequest, size int) {
	if r.batch.bytes+size > maxBatchBytes {
		r.flush()
	}
	r.batch.requests = append(r.batch.requests, request)
	r.batch.bytes, r.batch.ends = r.batch.bytes+size, r.line
	if len(r.batch.requests) == r.opened.Config.Config.Memory.Write.MaxBatchSize {
		r.flush()
	}
}

func (r *lineReader) flush() {
	if len(r.batch.requests) > 0 {
		r.send(r.batch)
	}
	r.batch = lineBatch{}
}

func (r *lineReader) send(b lineBatch) {
	select {
	case r.batches <- b:
	case <-r.ctx.Done():
		r.dropped = true
	}
}

// lineWriter writes batches.
type lineWriter struct {
	ctx    context.Context
	opened *cli.Opened
	acks   []amber.WriteAck
	told   *cli.Meter
}

func (w *lineWriter) write(b lineBatch) error {
	acks, err := w.opened.Store.Batch.WriteBatch(w.ctx, b.requests)
	if err != nil {
		return w.fail(fmt.Sprintf("batch of %d that ends at line %d", len(b.requests), b.ends), err)
	}
	w.acks = append(w.acks, acks...)
	w.told.Set("memories", int64(len(w.acks)), 0)
	return nil
}

// fail says where the input is wrong and how much of it is on disk. A conflict says itself where to look. After
// an interruption no line is to blame.
func (w *lineWriter) fail(where string, err error) error {
	next := "mend the line and run it again"
	if errors.Is(err, context.Canceled) {
		next = "run it again"
	}
	hint := fmt.Sprintf("%s stored; %s, what is stored is not stored twice", words.Count(len(w.acks), "memory of earlier batches is", "memories of earlier batches are"), next)
	if own := amber.HintOf(err); own != "" && amber.KindOf(err) == amber.KindConflict {
		hint = own
	}
	return &amber.Error{Op: where, Kind: amber.KindOf(err), Err: err, Hint: hint}
}

func parseLine(line []byte) (r amber.WriteRequest, err error) {
	if !utf8.Valid(line) { // the decoder would replace what is not
		return r, amber.Errorf(amber.KindInvalid, "parse memory", "", "the line is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, &amber.Error{Op: "parse memory", Kind: amber.KindInvalid, Err: err}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return r, amber.Errorf(amber.KindInvalid, "parse memory", "", "the line has more than one JSON value, want one object")
	}
	return r, nil
}
