package save

import (
	"strings"
	"testing"
)

func TestHistory_CheckNamesWhatIsCorrupt(t *testing.T) {
	var s Set
	for want, corrupt := range map[string]func(h *History){
		"":                                    func(*History) {},
		"invariant 1: tick 5 after 5":         func(h *History) { h.all[1].tick = 5 },
		"invariant 2: state 0 at -1":          func(h *History) { h.all[0].at = -1 },
		"invariant 2: state 2 at 21":          func(h *History) { h.all[2].at = 21 },
		"invariant 2: state 1 at 20":          func(h *History) { h.all[1].at, h.all[1].n, h.used = 20, -1, 19 },
		"invariant 2: states 0 and 1 overlap": func(h *History) { h.all[1].at = 9 },
		"invariant 2: states 1 and 2 overlap": func(h *History) { h.all[2].at = 19 },
		"invariant 1: 4 states of 3":          func(h *History) { h.count = 4 },
		"invariant 1: -1 states of 3":         func(h *History) { h.count = -1 },
		"invariant 3: 30 bytes, 29 are noted": func(h *History) { h.used-- },
		"invariant 1: tick 4 after 5":         func(h *History) { h.all[1].tick = 4 },
	} {
		h, err := NewHistory(&s, make([]byte, 30), 3)
		if err != nil {
			t.Fatal(err)
		}
		h.all, h.count, h.used = []moment{{5, 0, 10}, {6, 10, 10}, {7, 20, 10}}, 3, 30
		corrupt(h)
		if err := h.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
