package foreigntest

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestConversationsAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	var one, two bytes.Buffer
	must.Do(t, Conversations(&one, size))
	must.Do(t, Conversations(&two, size))
	must.Hold(t, bytes.Equal(one.Bytes(), two.Bytes()), "two exports differ")
	must.Hold(t, json.Valid(one.Bytes()), "the export is not valid JSON")
	must.Hold(t, one.Len() >= size && one.Len() < size+size/4, "the export has %d bytes, want about %d", one.Len(), size)
}

type fullDisk struct{}

var errFull = errors.New("disk is full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestAnErrorOfTheWriterEndsAnExport(t *testing.T) {
	t.Parallel()
	must.Is(t, "error", Conversations(fullDisk{}, 1<<30), errFull)
	must.Is(t, "error of a small one", Conversations(fullDisk{}, 1), errFull)
}
