//go:build !linux

package resident

import (
	"errors"
	"fmt"
	"runtime"
)

func (w *work) read(*Report) error {
	return fmt.Errorf("resident: %s does not tell what is resident in each mapping: %w", runtime.GOOS, errors.ErrUnsupported)
}
