//go:build memdebug || race

package invariant

import "testing"

func TestLevel_OfThisBuild(t *testing.T) {
	if Level != 2 {
		t.Errorf("level %d; want 2", Level)
	}
}
