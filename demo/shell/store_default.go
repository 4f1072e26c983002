//go:build !js

package shell

import (
	"os"
	"path/filepath"
)

// DefaultStore returns the player's own: the folder strata in that of the system for
// configuration, or nil where the system names none.
func DefaultStore() Store {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil
	}
	return Files{Dir: filepath.Join(dir, "strata")}
}
