package level_test

import (
	"fmt"

	"github.com/strata-go/strata/demo/level"
)

// What is wrong with a level is said with the place and what would be right.
func ExampleParse() {
	_, err := level.Parse("levels/typo.json", []byte(`{"version": 1, "pallete": []`))
	fmt.Println(err)
	// Output:
	// levels/typo.json: line 1, column 29: unexpected end of JSON input; a level is one JSON object
}
