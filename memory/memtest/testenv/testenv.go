// Package testenv is for the tests of this module: it starts their child processes and selects
// the tests that take long. It imports no allocator, so that every test can use it.
package testenv

import (
	"fmt"
	"os"
	"testing"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Variable is the name of the environment variable that selects how many tests run. Without it go test runs what fits
// into the limit of the README's command. With the value "full" it also runs the tests and cases that take long;
// .ci/run sets it. The flag -short selects less than the default.
const Variable = "STRATA_TEST"

// Full reports whether the long tests run: whether [Variable] is "full". It panics if the variable has another value
// than "" or "full": a misspelled value must not select fewer tests.
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

// Short reports whether tests run in their shortest version. It is true with -short, and in a debug build (-tags
// memdebug or -race) unless Full is true. A debug build takes ten times as long, and an ordinary build has tested the
// rest.
func Short() bool { return testing.Short() || invariant.Debug && !Full() }

// Brief reports whether tests run a short version of their long cases. It is true with -short, and unless Full is
// true.
func Brief() bool { return testing.Short() || !Full() }

// Long skips the test t, which takes long, unless Full is true.
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
