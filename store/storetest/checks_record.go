package storetest

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

func recordChecks() []check {
	needs := []part{longTerm, memories}
	return []check{
		{name: "memory/write-keeps-the-dates-it-is-given", needs: needs, run: datesKept},
		{name: "memory/write-of-an-equal-memory-keeps-its-dates", needs: needs, run: datesOfEqual},
		{name: "memory/write-of-a-topic-keeps-its-first-date", needs: needs, run: datesOfTopic},
		{name: "memory/write-refuses-dates-out-of-range", needs: needs, run: datesRefused},
		{name: "record/is-stored-as-it-is", needs: needs, run: recordKept},
		{name: "record/copies-a-listing", needs: []part{longTerm, memories, batches, edits}, run: recordsCopied},
		{name: "record/fills-what-is-missing", needs: needs, run: recordFilled},
		{name: "record/twice-writes-nothing", needs: []part{longTerm, memories, changes}, run: recordTwice},
		{name: "record/never-replaces-a-memory", needs: []part{longTerm, memories, batches, changes}, run: recordTaken},
		{name: "record/a-forgotten-memory-stays-forgotten", needs: needs, run: recordForgotten},
		{name: "record/an-erased-memory-stays-erased", needs: []part{longTerm, memories, erasure}, run: recordErased},
		{name: "record/refuses-what-is-no-record", needs: needs, run: recordRefused},
		{name: "record/logs-one-insert", needs: []part{longTerm, changes}, run: recordLogged},
		{name: "record/moves-the-clock-a-little", needs: needs, run: recordClock},
		{name: "record/goes-on-from-its-revision", needs: []part{longTerm, memories, edits}, run: recordEdited},
		{name: "record/its-key-repeats-the-answer", needs: needs, run: recordKeyed},
		{name: "record/is-found", needs: needs, run: recordFound},
	}
}

// long is a time long before every check.
func long(ago time.Duration) amber.Time { return moment(-1000*time.Hour - ago) }

func dated(content string, created, updated amber.Time) amber.WriteRequest {
	return amber.WriteRequest{Content: content, Recorded: amber.Recorded{CreatedAt: created, UpdatedAt: updated}}
}

func datesKept(w *world) {
	for name, c := range map[string]struct{ r, want amber.Recorded }{
		"both":          {amber.Recorded{CreatedAt: long(2), UpdatedAt: long(1)}, amber.Recorded{CreatedAt: long(2), UpdatedAt: long(1)}},
		"the first":     {amber.Recorded{CreatedAt: long(2)}, amber.Recorded{CreatedAt: long(2), UpdatedAt: long(2)}},
		"the last":      {amber.Recorded{UpdatedAt: long(1)}, amber.Recorded{CreatedAt: long(1), UpdatedAt: long(1)}},
		"none":          {amber.Recorded{}, amber.Recorded{CreatedAt: w.now(), UpdatedAt: w.now()}},
		"almost a day":  {amber.Recorded{CreatedAt: moment(23 * time.Hour)}, amber.Recorded{CreatedAt: moment(23 * time.Hour), UpdatedAt: moment(23 * time.Hour)}},
		"1970, a while": {amber.Recorded{CreatedAt: amber.UnixMilli(1)}, amber.Recorded{CreatedAt: amber.UnixMilli(1), UpdatedAt: amber.UnixMilli(1)}},
	} {
		for _, topic := range []string{"", "topic of " + name} {
			ack := w.write(amber.WriteRequest{Content: "dated " + name, Topic: topic, Recorded: c.r})
			equal([]amber.Time{ack.CreatedAt, ack.UpdatedAt}, []amber.Time{c.want.CreatedAt, c.want.UpdatedAt}, "dates of a memory with %s", name)
			equal(w.get(ack.ID), ack.Memory, "memory with %s", name)
			equal([]any{ack.Revision, ack.Origin.Counter}, []any{1, 1}, "revision and counter of a memory with %s", name)
		}
	}
}

func datesOfEqual(w *world) {
	first := w.write(dated("the same", long(2), long(1)))
	w.tick()
	for _, r := range []amber.WriteRequest{dated("the same", long(9), long(8)), {Content: "the same"}} {
		again := w.write(r)
		hold(again.Deduplicated, "an equal memory with other dates is not deduplicated")
		equal([]amber.Time{again.CreatedAt, again.UpdatedAt}, []amber.Time{first.CreatedAt, first.UpdatedAt}, "dates of an equal memory")
	}
}

func datesOfTopic(w *world) {
	topic := func(content string, d amber.Recorded) amber.Memory {
		w.tick()
		return w.write(amber.WriteRequest{Content: content, Topic: "t", Recorded: d}).Memory
	}
	topic("first", amber.Recorded{CreatedAt: long(9)})
	for _, c := range []struct {
		content string
		d       amber.Recorded
		updated func() amber.Time
	}{
		{"with both dates", amber.Recorded{CreatedAt: long(3), UpdatedAt: long(2)}, func() amber.Time { return long(2) }},
		{"with the first date", amber.Recorded{CreatedAt: long(3)}, w.now},
		{"with none", amber.Recorded{}, w.now},
	} {
		got := topic(c.content, c.d)
		equal([]amber.Time{got.CreatedAt, got.UpdatedAt}, []amber.Time{long(9), c.updated()}, "dates of a revision %s", c.content)
	}
	equal(w.list(amber.ListQuery{})[0].Revision, 4, "revision of the topic")
}

func datesRefused(w *world) {
	for name, d := range map[string]amber.Recorded{
		"made in two days":    {CreatedAt: moment(48 * time.Hour)},
		"changed in two days": {CreatedAt: long(1), UpdatedAt: moment(48 * time.Hour)},
		"made before 1970":    {CreatedAt: amber.UnixMilli(-1)},
		"changed after 6429":  {UpdatedAt: amber.UnixMilli(1 << 47)},
	} {
		refused(only(w.LongTerm.Write(w.ctx, amber.WriteRequest{Content: "x", Recorded: d})), amber.KindInvalid, "memory that was %s", name)
	}
	equal(w.everything(), nil, "memories after refused ones")
}

// recordID is the id of the n-th record.
func recordID(n byte) amber.MemoryID {
	return unknownID[:len(unknownID)-1] + amber.MemoryID('0'+n)
}

// farRecord is a memory as another store lists it.
func farRecord(n byte, content string) amber.WriteRequest {
	r := fullRequest()
	r.Content, r.Title = content, ""
	r.Recorded = amber.Recorded{
		ID: recordID(n), Origin: amber.Origin{Device: "far", Counter: 7, Clock: amber.StampAt(long(1).Time()) + 3}, Revision: 5,
		ContentDigest: amber.ContentDigest(content), DuplicateCount: 2, CreatedAt: long(time.Duration(n) * time.Hour), UpdatedAt: long(0),
		Foreign: map[string]json.RawMessage{"type": json.RawMessage(`"note"`), "n": json.RawMessage(`[1,{"a":null}]`)},
	}
	return r
}

// asListed is the memory that a record is of.
func asListed(r amber.WriteRequest) amber.Memory {
	return r.Fill(amber.Memory{
		Kind: r.Kind, Scope: r.Scope, Identities: r.Identities, Title: r.Title, Content: r.Content, Summary: r.Summary, Topic: r.Topic,
		Tags: r.Tags, Metadata: r.Metadata, SourceRefs: r.SourceRefs, Trust: r.Trust, Author: r.Author,
	}, amber.Time{})
}

func recordKept(w *world) {
	r := farRecord(1, "kept")
	ack := w.write(r)
	equal(ack, amber.WriteAck{Memory: asListed(r)}, "answer")
	equal(w.get(r.ID), asListed(r), "memory")
	equal(w.history(r.ID), []amber.Memory{asListed(r)}, "history")
	twin := farRecord(2, "kept")
	equal(w.write(twin).Deduplicated, false, "deduplicated, of a record that says what another does")
	equal(len(w.everything()), 2, "memories")
	gone := farRecord(3, "gone")
	gone.DeletedAt = long(0)
	equal(w.write(gone).Memory, asListed(gone), "answer to a deleted memory")
	refused(only(w.Memories.Get(w.ctx, gone.ID)), amber.KindNotFound, "deleted memory")
	empty := amber.WriteRequest{Kind: amber.UserFact, Scope: amber.ScopeGlobal, Trust: amber.TrustImported, Recorded: gone.Recorded}
	empty.ID, empty.ContentDigest, empty.Foreign = recordID(4), "", nil
	w.write(empty)
	want := asListed(empty)
	want.Tags, want.Metadata, want.SourceRefs = []string{}, map[string]string{}, []amber.SourceRef{}
	for _, m := range w.everything() {
		if m.ID == empty.ID {
			equal(m, want, "tombstone without text")
		}
	}
	equal(len(w.everything()), 4, "memories and tombstones")
}

// listed is a memory as a request.
func listed(m amber.Memory) (r amber.WriteRequest) {
	must0(json.Unmarshal(must(json.Marshal(m)), &r))
	return r
}

// recordsCopied writes what one store lists into another.
func recordsCopied(w *world) {
	for _, r := range []amber.WriteRequest{fullRequest(), {Content: "plain"}, {Content: "on a topic", Topic: "Release Plan"}, {Content: "x <&> \u2028 é 🚢", Title: "t"}} {
		w.tick()
		ack := w.write(r)
		if r.Title != "" {
			must(w.Editor.Edit(w.ctx, amber.EditRequest{ID: ack.ID, Content: &r.Title}))
		}
	}
	w.fact("plain")
	must0(w.LongTerm.Delete(w.ctx, w.fact("forgotten")))
	w.write(farRecord(1, "from far"))
	want := w.everything()
	to := must(enter(w.ctx, w.backend, w.clock, 2, amber.QueueOptions{}))
	defer func() { must0(to.leave()) }()
	var rs []amber.WriteRequest
	for _, m := range want {
		rs = append(rs, listed(m))
	}
	for _, deduplicated := range []bool{false, true} {
		for _, ack := range must(to.Batch.WriteBatch(to.ctx, rs)) {
			equal(ack.Deduplicated, deduplicated, "deduplicated, of a copied memory")
		}
		equal(to.everything(), want, "copy of a listing")
	}
}

func recordFilled(w *world) {
	ack := w.write(amber.WriteRequest{Content: "by id", Recorded: amber.Recorded{ID: recordID(1)}})
	equal([]any{ack.ID, ack.Revision, ack.Origin.Counter, ack.DuplicateCount}, []any{recordID(1), 1, 1, 0}, "id, revision, counter and count")
	equal([]amber.Time{ack.CreatedAt, ack.UpdatedAt}, []amber.Time{w.now(), w.now()}, "dates")
	equal([]any{ack.ContentDigest, ack.Trust, ack.Scope}, []any{amber.ContentDigest("by id"), amber.TrustOwn, amber.ScopeGlobal}, "digest, trust and scope")
	other := w.write(amber.WriteRequest{Content: "other"})
	equal(ack.Origin.Device, other.Origin.Device, "device")
	hold(other.Origin.Clock > ack.Origin.Clock, "the origin of a record was not made by the clock of the store")
	equal(w.get(recordID(1)), ack.Memory, "memory")
}

func recordTwice(w *world) {
	r := farRecord(1, "twice")
	want := w.write(r).Memory
	w.tick()
	r.Origin, r.Revision, r.DuplicateCount, r.CreatedAt, r.UpdatedAt, r.Foreign = amber.Origin{}, 0, 9, w.now(), w.now(), nil
	r.Trust, r.SourceRefs = amber.TrustOwn, nil
	got := w.changed(func() {
		ack := w.write(r)
		equal(ack, amber.WriteAck{Memory: want, Deduplicated: true}, "answer to a record that is stored")
	})
	equal(got, nil, "entries of a record that is stored")
	equal(w.get(r.ID), want, "memory after it")
}

func recordTaken(w *world) {
	r := farRecord(1, "mine")
	want := w.write(r).Memory
	for name, change := range map[string]func(r *amber.WriteRequest){
		"content":  func(r *amber.WriteRequest) { r.Content, r.ContentDigest = "yours", "" },
		"title":    func(r *amber.WriteRequest) { r.Title = "yours" },
		"kind":     func(r *amber.WriteRequest) { r.Kind = amber.UserFact },
		"scope":    func(r *amber.WriteRequest) { r.Scope = amber.ScopeGlobal },
		"project":  func(r *amber.WriteRequest) { r.ProjectID = "yours" },
		"summary":  func(r *amber.WriteRequest) { r.Summary = "" },
		"tags":     func(r *amber.WriteRequest) { r.Tags = nil },
		"metadata": func(r *amber.WriteRequest) { r.Metadata = map[string]string{"author": "bob"} },
		"deletion": func(r *amber.WriteRequest) { r.DeletedAt = w.now() },
	} {
		other := r
		change(&other)
		other.Origin.Counter, other.Revision = 99, 99
		got := w.changed(func() {
			_, err := w.LongTerm.Write(w.ctx, other)
			refused(err, amber.KindConflict, "record with another %s", name)
			hold(strings.Contains(err.Error(), string(r.ID)), "the error does not name the id: %v", err)
			equal(amber.HintOf(err), "amber get "+string(r.ID), "hint")
			refused(only(w.Batch.WriteBatch(w.ctx, []amber.WriteRequest{{Content: "beside"}, other})), amber.KindConflict, "batch with it")
		})
		equal(got, nil, "entries of refused records")
	}
	equal(w.everything(), []amber.Memory{want}, "memories")
}

func recordForgotten(w *world) {
	r := farRecord(1, "forgotten")
	w.write(r)
	must0(w.LongTerm.Delete(w.ctx, r.ID))
	refused(only(w.LongTerm.Write(w.ctx, r)), amber.KindConflict, "record of a memory that was forgotten")
	r.DeletedAt = w.now()
	equal(w.write(r).Deduplicated, true, "deduplicated, of a deleted record")
	refused(only(w.Memories.Get(w.ctx, r.ID)), amber.KindNotFound, "memory after them")
}

func recordErased(w *world) {
	r := farRecord(1, "erased")
	w.write(r)
	must(w.Eraser.Erase(w.ctx, r.ID))
	refused(only(w.LongTerm.Write(w.ctx, r)), amber.KindConflict, "record of a memory that was erased")
	equal(w.everything(), nil, "memories")
}

func recordRefused(w *world) {
	for name, spoil := range map[string]func(r *amber.WriteRequest){
		"an id that is none":   func(r *amber.WriteRequest) { r.ID = "x" },
		"another digest":       func(r *amber.WriteRequest) { r.ContentDigest = amber.ContentDigest("x") },
		"a topic of another":   func(r *amber.WriteRequest) { r.Topic = "t" },
		"a counter far ahead":  func(r *amber.WriteRequest) { r.Origin.Counter = amber.MaxCounterJump + 1 },
		"a negative revision":  func(r *amber.WriteRequest) { r.Revision = -1 },
		"foreign fields":       func(r *amber.WriteRequest) { r.Foreign["x"] = json.RawMessage(`{`) },
		"an origin and no id":  func(r *amber.WriteRequest) { r.ID = "" },
		"text and no content":  func(r *amber.WriteRequest) { r.Content, r.ContentDigest, r.DeletedAt = "", "", long(0) },
		"a scope and no one":   func(r *amber.WriteRequest) { r.Scope, r.UserID = amber.ScopeUser, "" },
		"a time out of range":  func(r *amber.WriteRequest) { r.CreatedAt = amber.UnixMilli(1 << 47) },
		"an unknown kind":      func(r *amber.WriteRequest) { r.Kind = "rumour" },
		"a revision too large": func(r *amber.WriteRequest) { r.Revision = 1<<53 + 1 },
	} {
		r := farRecord(1, "refused")
		spoil(&r)
		refused(only(w.LongTerm.Write(w.ctx, r)), amber.KindInvalid, "record with %s", name)
	}
	equal(w.everything(), nil, "memories")
}

func recordLogged(w *world) {
	r := farRecord(1, "logged")
	want := amber.Change{At: w.now(), Op: amber.OpInsert, Scope: amber.ChangeMemory, Key: string(r.ID), NewDigest: amber.ContentDigest("logged")}
	equal(w.logs("a record", func() { w.write(r) }), want, "entry of a record")
}

// recordClock writes origins that are ahead of the time of day: the clock follows a
// little, so that what is written next is later, and not as far as anybody says.
func recordClock(w *world) {
	next := func(content string, ahead time.Duration, n byte) amber.Stamp {
		r := farRecord(n, content)
		r.Origin.Clock = amber.StampAt(moment(ahead).Time())
		w.write(r)
		return w.write(amber.WriteRequest{Content: "after " + content}).Origin.Clock
	}
	hold(next("a minute", time.Minute, 1) > amber.StampAt(moment(time.Minute).Time()), "what is written after a record is stamped before it")
	most := moment(amber.MaxClockLead*time.Millisecond + time.Second)
	hold(next("a year", 365*24*time.Hour, 2) < amber.StampAt(most.Time()), "a record moved the clock further than %d ms", amber.MaxClockLead)
}

func recordEdited(w *world) {
	r := farRecord(1, "edited")
	w.write(r)
	w.tick()
	got := must(w.Editor.Edit(w.ctx, amber.EditRequest{ID: r.ID, Content: new("anew")}))
	equal([]any{got.Revision, got.Origin.Counter, got.CreatedAt, got.UpdatedAt}, []any{6, 8, r.CreatedAt, w.now()}, "revision, counter and dates")
	equal(len(w.history(r.ID)), 2, "revisions")
}

func recordKeyed(w *world) {
	r := farRecord(1, "keyed")
	r.IdempotencyKey = "k"
	first := w.write(r)
	equal(w.write(r), first, "answer to the same key")
	r.Revision++
	refused(only(w.LongTerm.Write(w.ctx, r)), amber.KindConflict, "key with another record")
}

func recordFound(w *world) {
	r := farRecord(1, "the comet returns")
	r.Scope, r.Identities = amber.ScopeGlobal, amber.Identities{}
	w.write(r)
	gone := farRecord(2, "the comet vanished")
	gone.Scope, gone.Identities, gone.DeletedAt = amber.ScopeGlobal, amber.Identities{}, long(0)
	w.write(gone)
	equal(w.found("comet"), []amber.MemoryID{r.ID}, "memories that are found")
}
