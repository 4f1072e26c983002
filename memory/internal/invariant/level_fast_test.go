//go:build memfast && !memdebug && !race

package invariant

import "testing"

func TestLevel_OfThisBuild(t *testing.T) {
	if Level != 0 {
		t.Errorf("level %d; want 0", Level)
	}
}
