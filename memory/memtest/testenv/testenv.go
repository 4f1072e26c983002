// Package testenv is for the tests of this module: it starts child processes of tests and selects the tests that take
// long. It imports no allocator, so that every test can use it.
package testenv

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Variable is the name of the environment variable that selects how many tests run. If the variable is not set, go
// test leaves out the tests and cases that take long. With the value "full" it runs them; .ci/run sets this value. With
// the value "night" it also runs those that take too long for each commit; .ci/nightly sets this value. The flag -short
// selects fewer tests than the default.
const Variable = "STRATA_TEST"

// Full reports whether the long tests run: if [Variable] is "full" or "night". Full panics if the variable has a
// value that is not allowed: a misspelled value must not select fewer tests.
func Full() bool { return level() >= 1 }

// Night reports whether the longest tests run: if [Variable] is "night". Night panics as [Full] does.
func Night() bool { return level() == 2 }

func level() int {
	v := os.Getenv(Variable)
	at := slices.Index([]string{"", "full", "night"}, v)
	if at < 0 {
		panic(fmt.Sprintf("%s is %q: allowed are full, night and the empty string", Variable, v))
	}
	return at
}

// Short reports whether tests run in their shortest version. Short returns true with -short. In a debug build (-tags
// memdebug or -race) it also returns true, unless Full returns true. The tests of a debug build take ten times as long.
// The tests that a debug build leaves out run in ordinary builds. In a debug build without -short, Short panics as
// [Full] does.
func Short() bool { return testing.Short() || invariant.Debug && !Full() }

// Brief reports whether tests run a short version of their long cases. Brief returns true with -short, and if Full
// returns false. Without -short, Brief panics as [Full] does.
func Brief() bool { return testing.Short() || !Full() }

// Some returns all entries if Full returns true. If not, it returns the entries with the given keys. It is for cases
// that differ from each other in numbers alone. Some panics if a key is not in all, and as [Full] does.
func Some[V any](all map[string]V, keys ...string) map[string]V {
	some := map[string]V{}
	for _, key := range keys {
		v, ok := all[key]
		if !ok {
			panic(fmt.Sprintf("there is no %q", key))
		}
		some[key] = v
	}
	if Full() {
		return all
	}
	return some
}

// Step returns 1 if Full returns true, and n otherwise. It is the step of a loop over many equal cases. Step panics as
// [Full] does.
func Step(n int) int {
	if Full() {
		return 1
	}
	return n
}

// Long skips t, a test that takes long, unless Full returns true. Long panics as [Full] does.
func Long(t testing.TB) {
	t.Helper()
	if !Full() {
		t.Skipf("takes long: %s=full runs it", Variable)
	}
}

// Longest skips t, a test that takes too long for each commit, unless Night returns true. Longest panics as [Full]
// does.
func Longest(t testing.TB) {
	t.Helper()
	if !Night() {
		t.Skipf("takes long: %s=night runs it", Variable)
	}
}

// Missing ends a test that needs a program or a display that this machine does not have. If the environment variable CI
// is "true", the test fails. If not, the test is skipped.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("missing, which is a failure if CI=true: %s", what)
	}
	t.Skipf("missing: %s", what)
}
