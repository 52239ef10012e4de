package bundle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

func note(path, body string) forged { return forged{path: path, kind: KindNote, body: body} }

func TestTheForgeryItselfIsFine(t *testing.T) {
	t.Parallel()
	f := forgery{
		files:    []forged{note("notes/a", "1"), note("notes/b", "2"), {path: "notes/c/", kind: KindFolder, mode: 0o700}},
		innerKey: 1, outerKey: 1,
	}
	r, verr, xerr := try(t, f.forge(t), Limits{})
	if verr != nil || xerr != nil || !r.OK() || r.Signature.Status != sign.SignatureValid {
		t.Errorf("got %v, %v, %v, %v", verr, xerr, r.Damaged, r.Signature)
	}
}

func TestHostilePathsAreRefused(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"../x", "notes/../../x", "/notes/x", "notes//x", "notes/./x", "notes/..", "./notes/x", `notes\x`, "notes/\x01", "notes/a\nb",
		"notes/\xff", "notes/con", "notes/a:b", "notes/x.", "notes/x ", "x", "other/x", "db/x", "notes", "manifest.json/x",
		"notes/" + strings.Repeat("x", 256), "notes/" + strings.Repeat("x/", 2100) + "y", "amber-manifest.json", "",
	} {
		t.Run(fmt.Sprintf("%.20q", path), func(t *testing.T) {
			t.Parallel()
			refuses(t, forgery{files: []forged{note(path, "1")}}.forge(t), Limits{}, amber.KindDamaged)
		})
	}
}

// headerWith returns the header of an entry of one byte after a change, with the right sum.
func headerWith(path string, change func(b []byte)) []byte {
	b := posixHeader(header{path, 0o600, 1, forgedContents().CreatedAt.UnixMilli() / 1000})
	change(b[len(b)-blockBytes:])
	last := b[len(b)-blockBytes:]
	fieldSum.set(last, fmt.Sprintf("%06o\x00 ", checksum(last)))
	return b
}

func TestOnlyFilesAndFoldersInOneSpelling(t *testing.T) {
	t.Parallel()
	changes := map[string]func(b []byte){
		"owner":      func(b []byte) { fieldUID.octal(b, 1000) },
		"group":      func(b []byte) { fieldGID.octal(b, 1000) },
		"owner name": func(b []byte) { copy(b[265:], "root") },
		"link name":  func(b []byte) { copy(b[157:], "/etc/passwd") },
		"prefix":     func(b []byte) { copy(b[345:], "..") },
		"mode 0644":  func(b []byte) { fieldMode.octal(b, 0o644) },
		"set uid":    func(b []byte) { fieldMode.octal(b, 0o4700) },
		"time":       func(b []byte) { fieldMtime.octal(b, 1) },
		"GNU":        func(b []byte) { fieldMagic.set(b, gnuMagic) },
		"spaces":     func(b []byte) { fieldSize.set(b, "          1\x00") },
		"base 256":   func(b []byte) { b[fieldSize.at] = 0x80 },
		"device":     func(b []byte) { fieldMajor.octal(b, 1) },
		"behind NUL": func(b []byte) { b[50] = 'x' },
	}
	for _, kind := range "1234567SLKgxADMV\x00" {
		changes[fmt.Sprintf("type %q", kind)] = func(b []byte) { b[typeOffset] = byte(kind) }
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := note("notes/a", "1")
			e.header = headerWith("notes/a", change)
			refuses(t, forgery{files: []forged{e}}.forge(t), Limits{}, amber.KindDamaged)
		})
	}
}

// pax returns an entry of one byte with records before it.
func pax(records string) forged {
	e := note("notes/a", "1")
	mtime := forgedContents().CreatedAt.UnixMilli() / 1000
	e.header = posixBlock(header{"PaxHeader", 0o600, int64(len(records)), mtime}, typePAX)
	e.header = append(append(e.header, records...), make([]byte, padding(int64(len(records))))...)
	e.header = append(e.header, posixHeader(header{"notes/a", 0o600, 1, mtime})...)
	return e
}

func TestNoSurprisesInPAXRecords(t *testing.T) {
	t.Parallel()
	for name, records := range map[string]string{
		"needless path":  paxRecord("path", "notes/a"),
		"another path":   paxRecord("path", "notes/b"),
		"needless size":  paxRecord("size", "1"),
		"negative size":  paxRecord("size", "-1"),
		"two paths":      paxRecord("path", strings.Repeat("x", 120)) + paxRecord("path", "notes/a"),
		"sparse":         paxRecord("GNU.sparse.major", "1"),
		"owner":          paxRecord("uid", "0"),
		"attribute":      paxRecord("SCHILY.xattr.user.x", "1"),
		"link":           paxRecord("linkpath", "/etc/passwd"),
		"none":           "",
		"no length":      "path=notes/a\n",
		"length too far": "999 path=notes/a\n",
		"length zero":    "0 path=notes/a\n",
		"no end of line": "14 path=note/a",
		"endless":        strings.Repeat(paxRecord("comment", "x"), 1000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, forgery{files: []forged{pax(records)}}.forge(t), Limits{}, amber.KindDamaged)
		})
	}
}

func TestDoubleAndUnlistedEntriesAreRefused(t *testing.T) {
	t.Parallel()
	unlisted := note("notes/b", "2")
	unlisted.unlisted = true
	listed := func(e entry) func(*inner) {
		return func(in *inner) { in.Entries = append(in.Entries, e); in.ExpandedBytes += e.Size }
	}
	missing := entry{Path: "notes/z", Kind: KindNote, Mode: "0600", Size: 1, SHA256: envelope.Digest([]byte("z"))}
	for name, f := range map[string]forgery{
		"twice":              {files: []forged{note("notes/a", "1"), note("notes/a", "1")}},
		"only case differs":  {files: []forged{note("notes/A", "1"), note("notes/a", "1")}},
		"only folders' case": {files: []forged{note("notes/A/x", "1"), note("notes/a/y", "1")}},
		"below a file":       {files: []forged{note("notes/a", "1"), note("notes/a/b", "1")}},
		"out of order":       {files: []forged{note("notes/b", "1"), note("notes/a", "1")}},
		"unlisted":           {files: []forged{note("notes/a", "1"), unlisted}},
		"missing":            {files: []forged{note("notes/a", "1")}, inner: listed(missing)},
		"other size":         {files: []forged{note("notes/a", "1")}, inner: func(in *inner) { in.Entries[0].Size, in.ExpandedBytes = 2, 2 }},
		"other bytes":        {files: []forged{note("notes/a", "1")}, inner: func(in *inner) { in.Entries[0].SHA256 = envelope.Digest(nil) }},
		"other mode":         {files: []forged{note("notes/a", "1")}, inner: func(in *inner) { in.Entries[0].Mode = "0700" }},
		"unknown mode":       {files: []forged{note("notes/a", "1")}, inner: func(in *inner) { in.Entries[0].Mode = "0777" }},
		"other kind":         {files: []forged{note("notes/a", "1")}, inner: func(in *inner) { in.Entries[0].Kind = KindState }},
		"unknown kind":       {files: []forged{note("notes/a", "1")}, inner: func(in *inner) { in.Entries[0].Kind = "program" }},
		"other order":        {files: []forged{note("notes/a", "1"), note("notes/b", "2")}, inner: func(in *inner) { slices.Reverse(in.Entries) }},
		"other sum of sizes": {files: []forged{note("notes/a", "1")}, inner: func(in *inner) { in.ExpandedBytes = 7 }},
		"no manifest":        {files: []forged{note("notes/a", "1")}, noManifest: true},
		"a database that is not there": {inner: func(in *inner) {
			in.Databases = []Database{{Path: "db/memory.db", Name: "memory.db"}}
		}},
		"behind the archive": {tar: func(b []byte) []byte { return append(b, 0) }},
		"a file behind it":   {tar: func(b []byte) []byte { return append(b, b...) }},
		"no end":             {tar: func(b []byte) []byte { return b[:len(b)-tarEnd] }},
		"half an end":        {tar: func(b []byte) []byte { return b[:len(b)-blockBytes] }},
		"behind a file": {files: []forged{note("notes/a", "1")}, tar: func(b []byte) []byte {
			b[blockBytes+7] = 'x'
			return b
		}},
		"behind the manifest": {tar: func(b []byte) []byte {
			e := posixHeader(header{"notes/z", 0o600, 0, forgedContents().CreatedAt.UnixMilli() / 1000})
			return slices.Concat(b[:len(b)-tarEnd], e, b[len(b)-tarEnd:])
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, f.forge(t), Limits{}, amber.KindDamaged)
		})
	}
}

func TestNothingFollowsTheCompressedStream(t *testing.T) {
	t.Parallel()
	more := frame(t, []byte("more"))
	skip := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 0x184D2A50), 4)
	for name, change := range map[string]func([]byte) []byte{
		"a frame":           func(b []byte) []byte { return append(b, more...) },
		"a skippable frame": func(b []byte) []byte { return append(append(b, skip...), "more"...) },
		"a byte":            func(b []byte) []byte { return append(b, 0) },
		"an empty frame":    func(b []byte) []byte { return append(b, frame(t, nil, zstd.WithZeroFrames(true))...) },
		"one before it":     func(b []byte) []byte { return append(append(bytes.Clone(skip), "more"...), b...) },
		"no stream":         func([]byte) []byte { return nil },
		"half a stream":     func(b []byte) []byte { return b[:len(b)/2] },
		"no checksum": func([]byte) []byte {
			return frame(t, make([]byte, tarEnd), zstd.WithEncoderCRC(false))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, forgery{stream: change}.forge(t), Limits{}, amber.KindDamaged)
		})
	}
}

func TestBombsAreStopped(t *testing.T) {
	t.Parallel()
	many := func(n int) (list []forged) {
		for i := range n {
			list = append(list, note(fmt.Sprintf("notes/%06d", i), ""))
		}
		return list
	}
	huge := note("notes/a", "1")
	huge.header = posixHeader(header{"notes/a", 0o600, 60 << 30, forgedContents().CreatedAt.UnixMilli() / 1000})
	tooHuge := huge
	tooHuge.header = posixHeader(header{"notes/a", 0o600, 1 << 60, forgedContents().CreatedAt.UnixMilli() / 1000})
	zeros := note("notes/a", strings.Repeat("\x00", ratioFloor+1))
	for name, tt := range map[string]struct {
		f    forgery
		l    Limits
		kind amber.Kind
	}{
		"zeros":               {forgery{files: []forged{zeros}}, Limits{}, amber.KindQuota},
		"expansion":           {forgery{files: []forged{note("notes/a", strings.Repeat("tea ", 10_000))}}, Limits{Expanded: 20_000}, amber.KindQuota},
		"one entry":           {forgery{files: []forged{note("notes/a", "12345")}}, Limits{EntryBytes: 4}, amber.KindQuota},
		"entries":             {forgery{files: many(12)}, Limits{Entries: 10}, amber.KindQuota},
		"a manifest":          {forgery{files: many(100)}, Limits{ManifestBytes: 4000}, amber.KindQuota},
		"a declared size":     {forgery{files: []forged{huge}}, Limits{}, amber.KindDamaged},
		"a larger one":        {forgery{files: []forged{tooHuge}}, Limits{}, amber.KindQuota},
		"a window":            {forgery{stream: func(b []byte) []byte { return frame(t, make([]byte, 9<<20), zstd.WithWindowSize(32<<20)) }}, Limits{}, amber.KindQuota},
		"a window of the end": {forgery{stream: func([]byte) []byte { return []byte{0x28, 0xb5, 0x2f, 0xfd, 0x04, 0xff} }}, Limits{}, amber.KindQuota},
		"a single segment":    {forgery{stream: func([]byte) []byte { return []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe4, 0, 0, 0, 0, 0, 0, 0, 1} }}, Limits{}, amber.KindQuota},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, tt.f.forge(t), tt.l, tt.kind)
		})
	}
}

func TestNewerVersionsAreTooNew(t *testing.T) {
	t.Parallel()
	refuses(t, forgery{inner: func(in *inner) { in.Version = 2 }}.forge(t), Limits{}, amber.KindTooNew)
	_, _, err := try(t, forgery{outer: func(o *outer) { o.Version = 2 }}.forge(t), Limits{})
	must.Kind(t, "outer", err, amber.KindTooNew)
	refuses(t, forgery{inner: func(in *inner) { in.Version = 0 }}.forge(t), Limits{}, amber.KindDamaged)
	refuses(t, forgery{inner: func(in *inner) { in.Format = outerFormat }}.forge(t), Limits{}, amber.KindDamaged)
	refuses(t, forgery{outer: func(o *outer) { o.Format = innerFormat }}.forge(t), Limits{}, amber.KindDamaged)
}

func TestIdsInsideAValidBundleAreChecked(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Contents){
		"tenant": func(c *Contents) { c.Tenant = "../other" },
		"empty":  func(c *Contents) { c.Tenant = "" },
		"agent":  func(c *Contents) { c.Agent = "a/b" },
		"upper":  func(c *Contents) { c.Agent = "Ana" },
		"id":     func(c *Contents) { c.ID = "../../x" },
		"device": func(c *Contents) { c.Device = "a\x00b" },
		"label":  func(c *Contents) { c.Label = strings.Repeat("x", 201) },
		"time":   func(c *Contents) { c.CreatedAt = amber.UnixMilli(-1) },
		"git":    func(c *Contents) { c.GitOID = "HEAD" },
		"ref":    func(c *Contents) { c.Refs = []Ref{{"refs/heads/a", "x"}} },
		"twice":  func(c *Contents) { c.Refs = []Ref{{"r", strings.Repeat("0", 40)}, {"r", strings.Repeat("0", 40)}} },
		"mark":   func(c *Contents) { c.Marks = []Mark{{Drained: -1}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Both manifests say so, or the inner one alone.
			refuses(t, forgery{contents: change}.forge(t), Limits{}, amber.KindDamaged)
			refuses(t, forgery{inner: func(in *inner) { change(&in.Contents) }}.forge(t), Limits{}, amber.KindDamaged)
		})
	}
}

func TestEverythingIsCovered(t *testing.T) {
	t.Parallel()
	two := []forged{note("notes/a", "1"), note("notes/b", "2")}
	for name, f := range map[string]forgery{
		"two entries change places": {files: two, inner: func(in *inner) {
			in.Entries[0].SHA256, in.Entries[1].SHA256 = in.Entries[1].SHA256, in.Entries[0].SHA256
		}},
		"tenant":    {outer: func(o *outer) { o.Tenant = "other" }},
		"agent":     {outer: func(o *outer) { o.Agent = "ben" }},
		"time":      {outer: func(o *outer) { o.CreatedAt = amber.UnixMilli(1) }},
		"device":    {outer: func(o *outer) { o.Device = "x" }},
		"label":     {outer: func(o *outer) { o.Label = "x" }},
		"git":       {outer: func(o *outer) { o.GitOID = strings.Repeat("1", 40) }},
		"redacted":  {outer: func(o *outer) { o.Redacted = true }},
		"encrypted": {outer: func(o *outer) { o.Encrypted, o.HeaderSHA256 = true, envelope.Digest(nil) }},
		"entries":   {outer: func(o *outer) { o.Entries++ }},
		"size":      {outer: func(o *outer) { o.ExpandedBytes++ }},
		"inner":     {outer: func(o *outer) { o.InnerSHA256 = envelope.Digest(nil) }},
		"payload":   {outer: func(o *outer) { o.PayloadSHA256 = envelope.Digest(nil) }},
		"length":    {outer: func(o *outer) { o.PayloadBytes++ }},
		"the time inside": {inner: func(in *inner) {
			in.CreatedAt = amber.UnixMilli(1000)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, f.forge(t), Limits{}, amber.KindDamaged)
		})
	}
}

func TestSignaturesThatDoNotHoldAreUntrusted(t *testing.T) {
	t.Parallel()
	name := func(k byte) sign.KeyID { return signerOf(k).KeyID() }
	for what, tt := range map[string]struct {
		f    forgery
		want sign.SignatureStatus
	}{
		"outer stripped":           {forgery{innerKey: 1, outer: func(o *outer) { o.Signer = name(1) }}, sign.SignatureStripped},
		"inner stripped":           {forgery{outerKey: 1, inner: func(in *inner) { in.Signer = name(1) }}, sign.SignatureStripped},
		"outer made unsigned":      {forgery{innerKey: 1}, sign.SignatureStripped},
		"inner made unsigned":      {forgery{outerKey: 1}, sign.SignatureBad},
		"outer by another":         {forgery{innerKey: 1, outerKey: 2}, sign.SignatureBad},
		"both stripped":            {forgery{outer: func(o *outer) { o.Signer = name(1) }, inner: func(in *inner) { in.Signer = name(1) }}, sign.SignatureStripped},
		"outer signature changed":  {forgery{innerKey: 1, outerKey: 1, file: changeSignature}, sign.SignatureBad},
		"outer of another message": {forgery{innerKey: 1, outerKey: 1, file: func(b []byte) []byte { return swapSignature(t, b) }}, sign.SignatureBad},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			tt.f.files = []forged{note("notes/a", "1")}
			b := tt.f.forge(t)
			r, verr, xerr := try(t, b, Limits{})
			if verr != nil || r.OK() || r.Signature.Status != tt.want || r.SignedBy != "" {
				t.Errorf("verify: %v, damage %v, signature %+v, signed by %q; want %s", verr, r.Damaged, r.Signature, r.SignedBy, tt.want)
			}
			must.Kind(t, "extract", xerr, amber.KindUntrusted)
		})
	}
}

// changeSignature changes a character of the first signature, in base64 that can be read.
func changeSignature(b []byte) []byte {
	i := bytes.Index(b, []byte(`"sig":"`)) + len(`"sig":"`) + 5
	if b[i] == 'A' {
		b[i] = 'B'
	} else {
		b[i] = 'A'
	}
	return b
}

// swapSignature puts the signature of another bundle of the same key into a bundle.
func swapSignature(t testing.TB, b []byte) []byte {
	other := forgery{innerKey: 1, outerKey: 1}.forge(t)
	at := func(b []byte) int { return bytes.Index(b, []byte(`"sig":"`)) + len(`"sig":"`) }
	copy(b[at(b):at(b)+86], other[at(other):at(other)+86])
	return b
}

func TestAnOuterManifestHasOneSpelling(t *testing.T) {
	t.Parallel()
	whole := forgery{innerKey: 1, outerKey: 1}
	edit := func(from, to string) func([]byte) []byte {
		return func(b []byte) []byte {
			room := b[skipBytes : skipBytes+outerRoom]
			line := bytes.TrimRight(room, " \n")
			again := pad([]byte(strings.Replace(string(line), from, to, 1)), outerRoom)
			copy(room, again)
			return b
		}
	}
	for name, change := range map[string]func([]byte) []byte{
		"a space":             edit(`,"digest"`, ` ,"digest"`),
		"another field":       edit(`"signatures":[`, `"signatures":[{"alg":"x"},`),
		"a second signature":  edit(`"signatures":[{`, `"signatures":[{},{`),
		"null for signatures": edit(`"signatures":[`, `"signatures":null,"x":[`),
		"upper digest":        edit(`"digest":"`, `"digest":"A`),
		"no end of the line":  func(b []byte) []byte { b[skipBytes+outerRoom-1] = ' '; return b },
		"a tab as padding":    func(b []byte) []byte { b[skipBytes+outerRoom-2] = '\t'; return b },
		"text in the padding": func(b []byte) []byte { b[skipBytes+outerRoom-2] = 'x'; return b },
		"another length":      func(b []byte) []byte { b[4]++; return b },
		"no length":           func(b []byte) []byte { copy(b[4:8], "\x00\x00\x00\x00"); return b },
		"a length beyond":     func(b []byte) []byte { copy(b[4:8], "\x00\x00\x01\x00"); return b },
		"another frame":       func(b []byte) []byte { b[0]++; return b },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := whole
			f.file = change
			refuses(t, f.forge(t), Limits{}, amber.KindDamaged)
		})
	}
}
