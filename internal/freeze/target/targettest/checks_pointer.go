package targettest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

func pointerChecks() []check {
	return []check{
		{"pointer/absent", pointerAbsent},
		{"pointer/swap", pointerSwap},
		{"pointer/conflict-changes-nothing", pointerConflict},
		{"pointer/sizes", pointerSizes},
		{"pointer/is-no-object", pointerIsNoObject},
		{"pointer/one-of-many-wins", pointerTogether},
		{"pointer/no-swap-is-lost", pointerCounts},
		{"pointer/bad-names-are-refused", pointerBadNames},
		{"pointer/ended-context", pointerContext},
		{"pointer/is-there-after-opening-again", pointerLasts},
	}
}

func pointerAbsent(w *world) {
	w.pointer("none", "", "")
	w.pointer("none/none", "", "")
	_, err := w.pointers.SwapPointer(w.ctx, w.base+"none", "1", []byte("x"))
	refused(err, amber.KindConflict, "swap of a pointer that is not there")
	w.pointer("none", "", "")
}

func pointerSwap(w *world) {
	version := ""
	for _, value := range []string{"one", "two", "", "one", strings.Repeat("\x00\xff\n", 100)} {
		version = w.swap("p/q", version, value)
		w.pointer("p/q", value, version)
	}
	w.pointer("p/other", "", "")
}

func pointerConflict(w *world) {
	first := w.swap("p", "", "one")
	second := w.swap("p", first, "two")
	for _, stale := range []string{"", first, "none", second + "0"} {
		_, err := w.pointers.SwapPointer(w.ctx, w.base+"p", stale, []byte("three"))
		refused(err, amber.KindConflict, "swap with version %q", stale)
		w.pointer("p", "two", second)
	}
}

func pointerSizes(w *world) {
	largest := strings.Repeat("x", target.MaxPointerBytes)
	v := w.swap("p", "", largest)
	_, err := w.pointers.SwapPointer(w.ctx, w.base+"p", v, []byte(largest+"x"))
	refused(err, amber.KindInvalid, "swap to more than the limit")
	w.pointer("p", largest, v)
}

func pointerIsNoObject(w *world) {
	v := w.swap("p", "", "value")
	w.missing("p")
	equal(w.list(""), nil, "list")
	hold(w.put("p", "object"), "put of a new object says that it was there")
	w.pointer("p", "value", v)
	must0(w.target.Delete(w.ctx, w.base+"p"))
	w.pointer("p", "value", v)
}

// rivals is how many swap the same pointer at once.
const rivals = 6

func pointerTogether(w *world) {
	version := ""
	for round := range 20 {
		var mu sync.Mutex
		winners := map[string]string{} // value by version
		together(rivals, func(i int) {
			value := fmt.Sprint(round, " by ", i)
			v, err := w.pointers.SwapPointer(w.ctx, w.base+"p", version, []byte(value))
			if err != nil {
				refused(err, amber.KindConflict, "swap that lost")
				return
			}
			mu.Lock()
			defer mu.Unlock()
			winners[v] = value
		})
		hold(len(winners) == 1, "%d of %d swaps from one version won, want 1", len(winners), rivals)
		for v, value := range winners {
			w.pointer("p", value, v)
			version = v
		}
	}
}

// pointerCounts has several handles count in one pointer, as several programs
// would.
func pointerCounts(w *world) {
	const each = 10
	together(rivals, func(int) {
		other := *w
		other.reopen()
		for done := 0; done < each; {
			value, version, err := other.pointers.LoadPointer(w.ctx, w.base+"p")
			must0(err)
			n, _ := strconv.Atoi(string(value))
			_, err = other.pointers.SwapPointer(w.ctx, w.base+"p", version, []byte(strconv.Itoa(n+1)))
			if err == nil {
				done++
				continue
			}
			refused(err, amber.KindConflict, "swap that lost")
		}
	})
	value, _, err := w.pointers.LoadPointer(w.ctx, w.base+"p")
	must0(err)
	hold(string(value) == strconv.Itoa(rivals*each), "%d swaps counted to %q", rivals*each, value)
}

func pointerBadNames(w *world) {
	for _, name := range wrong {
		_, _, err := w.pointers.LoadPointer(w.ctx, name)
		refused(err, amber.KindInvalid, "load of %q", name)
		_, err = w.pointers.SwapPointer(w.ctx, name, "", []byte("x"))
		refused(err, amber.KindInvalid, "swap of %q", name)
	}
}

func pointerContext(w *world) {
	v := w.swap("p", "", "one")
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	_, _, err := w.pointers.LoadPointer(ctx, w.base+"p")
	refused(err, amber.KindUnreachable, "load")
	_, err = w.pointers.SwapPointer(ctx, w.base+"p", v, []byte("two"))
	refused(err, amber.KindUnreachable, "swap")
	w.pointer("p", "one", v)
}

func pointerLasts(w *world) {
	v := w.swap("p", "", "one")
	w.reopen()
	w.pointer("p", "one", v)
	v = w.swap("p", v, "two")
	w.reopen()
	w.pointer("p", "two", v)
}
