//go:build !linux

package resident

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/strata-go/strata/memory/tiers"
)

func (w *work) read(*tiers.Manager, *Report) error {
	return fmt.Errorf("resident: %s does not tell what is resident in each mapping: %w", runtime.GOOS, errors.ErrUnsupported)
}
