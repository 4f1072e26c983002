package manifest_test

import (
	"fmt"

	"github.com/strata-go/strata/demo/realm/manifest"
)

// An error names the place, and what is allowed.
func ExampleParse() {
	_, err := manifest.Parse("levels/typo.json", []byte(`{"version": 1, "pallete": []`))
	fmt.Println(err)
	// Output:
	// levels/typo.json: line 1, column 29: unexpected end of JSON input; a manifest is one JSON object
}
