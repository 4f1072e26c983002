package realm

import (
	"testing"

	"github.com/strata-go/strata/assets"
)

// The realms of the game hold what a realm promises: every seal and the heart can be flown to.
func TestLoad_TheGamesRealmsHoldTheirInvariants(t *testing.T) {
	for _, name := range Names {
		r, err := load(assets.FS(), level(t, 8<<20), name)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := r.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
