//go:build !js

package shell

import (
	"os"
	"path/filepath"
)

// DefaultStore returns the player's store: the folder strata in the user's configuration folder. If the system has no
// such folder, it returns nil.
func DefaultStore() Store {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil
	}
	return Files{Dir: filepath.Join(dir, "strata")}
}
