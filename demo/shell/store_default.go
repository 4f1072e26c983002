//go:build !js

package shell

import (
	"os"
	"path/filepath"
)

// DefaultStore returns the player's store: the folder strata in the folder of os.UserConfigDir. The first Save makes
// the folder. If the environment names no such folder, DefaultStore returns nil, and a Shell then saves nothing.
func DefaultStore() Store {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil
	}
	return Files{Dir: filepath.Join(dir, "strata")}
}
