//go:build !js

package shell

import (
	"os"
	"path/filepath"
)

// DefaultStore returns the player's store: the folder strata in the user's configuration folder, or nil if the system
// has none.
func DefaultStore() Store {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil
	}
	return Files{Dir: filepath.Join(dir, "strata")}
}
