package invariant

import "testing"

func TestNil_IsNoInterfaceAndANilPointerInOneAndNothingElse(t *testing.T) {
	type owner struct{}
	var none *owner
	for _, c := range []struct {
		v    any
		want bool
	}{
		{nil, true}, {none, true}, {&owner{}, false}, {owner{}, false}, {0, false}, {"", false}, {[]int(nil), false},
	} {
		if got := Nil(c.v); got != c.want {
			t.Errorf("Nil(%#v) is %v", c.v, got)
		}
	}
}
