package home

import "testing"

func TestTurnsHaveALinePerStore(t *testing.T) {
	t.Parallel()
	all := newTurns()
	memory, control := all.of("memory"), all.of("control")
	if memory == control {
		t.Error("two stores share a line")
	}
	if all.of("memory") != memory {
		t.Error("one store has two lines")
	}
}
