// Package testenv is for the tests of this module: it starts their child processes and selects
// the tests that take long. It imports no allocator, so that every test can use it.
package testenv

import (
	"fmt"
	"os"
	"testing"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Variable is the environment variable that selects how much the tests play. Without it go test
// runs what fits into the limit of the README's command. With the value "full" it also runs the
// tests and cases that take long; .ci/run sets it. The flag -short selects less than the default.
const Variable = "STRATA_TEST"

// Full reports whether the long tests run. It panics if the variable has another value than ""
// or "full": a misspelled value must not select fewer tests than were wanted.
func Full() bool {
	switch v := os.Getenv(Variable); v {
	case "full":
		return true
	case "":
		return false
	default:
		panic(fmt.Sprintf("%s is %q: allowed are full and the empty string", Variable, v))
	}
}

// Short reports whether tests play their shortest version: with -short, and in a memdebug or race build unless Full is
// true. There everything takes ten times as long, and a plain build has tried what is left out.
func Short() bool { return testing.Short() || invariant.Debug && !Full() }

// Brief reports whether tests play a short version of what takes long: with -short, and unless Full
// is true.
func Brief() bool { return testing.Short() || !Full() }

// Long skips a test that takes long unless Full is true.
func Long(t testing.TB) {
	t.Helper()
	if !Full() {
		t.Skipf("takes long: %s=full runs it", Variable)
	}
}

// Missing ends a test that needs a program or a display that this machine does not have. If CI is
// "true" the test fails, as the gate installs what the tests need; otherwise it is skipped.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("missing, which is a failure if CI=true: %s", what)
	}
	t.Skipf("missing: %s", what)
}
