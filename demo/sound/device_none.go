//go:build !cgo && (freebsd || netbsd)

package sound

import "errors"

// The library uses this system's sound through purego, which needs cgo here.
func openOutput() (output, <-chan struct{}, error) {
	return nil, nil, errors.New("this build has no sound on this system: build it with CGO_ENABLED=1")
}
