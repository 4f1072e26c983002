package save_test

import (
	"bytes"
	"fmt"

	"github.com/strata-go/strata/memory/layout"
	"github.com/strata-go/strata/memory/save"
)

// A player's progress survives an update of the game that renames and widens a field.
func ExampleSet_Write() {
	type before struct{ Gold int16 }
	type after struct {
		Coins int64
		Level uint8
	}
	var old, now save.Set
	was, is := before{Gold: 120}, after{}
	for _, err := range []error{save.Value(&old, "player", &was), old.Seal(), save.Value(&now, "player", &is), now.Seal()} {
		if err != nil {
			panic(err)
		}
	}
	var file bytes.Buffer
	if err := old.Write(&file); err != nil {
		panic(err)
	}
	err := now.Read(&file, &layout.Migration{Renamed: map[string]string{"save_test.before.Gold": "Coins"}})
	fmt.Println(is.Coins, is.Level, err)
	// Output: 120 0 <nil>
}
