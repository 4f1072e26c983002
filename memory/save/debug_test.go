package save_test

import "github.com/strata-go/strata/memory/internal/invariant"

// raceOrDebug: states have everything that is committed.
const raceOrDebug = invariant.Debug
