package save_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/save"
)

// A length or a condition that does not come from the state is refused before anything changes, and the error says what
// to call instead.
func TestCoder_LengthsNeedCount(t *testing.T) {
	list, score := []int32{}, 0
	length := func(c *save.Coder, n int) int {
		if save.Num(c, &n); c.Loading() {
			list = make([]int32, n)
		}
		return n
	}
	for name, f := range map[string]func(c *save.Coder){
		"rows": func(c *save.Coder) { length(c, len(list)); save.Vec(c, list) },
		"loop": func(c *save.Coder) {
			for i := range length(c, len(list)) {
				save.Num(c, &list[i])
			}
		},
		"var":   func(c *save.Coder) { n := len(list); save.Var(c, &n); save.Vec(c, list) },
		"typed": func(c *save.Coder) { n := uint16(len(list)); save.Typed(c, "n", &n); save.Vec(c, list) },
		"bool": func(c *save.Coder) {
			has := len(list) == 4
			if save.Bool(c, &has); has {
				c.Word(0)
			}
		},
	} {
		list, score = []int32{1, 2, 3, 4}, 7
		set := new(save.Set)
		must(t, save.Value(set, "score", &score), set.AddFunc("squad", f), set.Seal())
		slot, file := filled(t, set, set.NewSlot(1000)), fileOf(t, set)
		list, score = []int32{5, 6}, 8
		want := "(2 instead of 4"
		if name == "bool" {
			want = "(0 instead of 1"
		}
		for how, err := range map[string]error{"Load": set.Load(slot), "Read": set.Read(file(), nil)} {
			if !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "squad: ") || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "from Flag") {
				t.Errorf("%s: %s: %v", name, how, err)
			}
		}
		if len(list) != 2 || score != 8 {
			t.Errorf("%s: %v, %d", name, list, score)
		}
		list = []int32{5, 6, 7, 8}
		if must(t, set.Load(slot), set.Read(file(), nil)); score != 7 {
			t.Errorf("%s: %d", name, score)
		}
	}
}

// A number of a file that does not fit its variable is refused with the allowed ones, and is not truncated.
func TestNum_RefusesWhatDoesNotFit(t *testing.T) {
	was, name := int64(0), "zone"
	var now int8
	var mask uint16
	write, signed, unsigned := new(save.Set), new(save.Set), new(save.Set)
	must(t, write.AddFunc(name, func(c *save.Coder) { save.Num(c, &was) }), write.Seal(),
		signed.AddFunc(name, func(c *save.Coder) { save.Num(c, &now) }), signed.Seal(),
		unsigned.AddFunc(name, func(c *save.Coder) { save.Num(c, &mask) }), unsigned.Seal())
	for n, want := range map[int64][2]string{
		5: {}, math.MaxInt8: {}, 128: {"zone: save: the layout differs: the number 128 does not fit the variable; allowed are -128 to 127", ""},
		-128: {"", "allowed are 0 to 65535"}, -129: {"the number -129 does", "0 to 65535"}, math.MaxUint16: {"the number 65535", ""},
		math.MaxUint16 + 1: {"-128 to 127", "the number 65536 does not fit"}, math.MinInt64: {"-128 to 127", "0 to 65535"},
	} {
		now, mask, was = 1, 1, n
		file := fileOf(t, write)
		for i, err := range []error{signed.Read(file(), nil), unsigned.Read(file(), nil)} {
			loaded := []int64{int64(now), int64(mask)}[i]
			if err == nil && (want[i] != "" || loaded != n) || err != nil && (want[i] == "" || !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), want[i]) || loaded != 1) {
				t.Errorf("%d became %d: %v, want %q", n, loaded, err, want[i])
			}
		}
	}
}
