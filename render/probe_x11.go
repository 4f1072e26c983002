//go:build (linux && !android) || freebsd

package render

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Probe returns nil if a window can probably be opened, or an error that wraps ErrNoDisplay. Probe opens no window:
// it connects to the X server of DISPLAY and disconnects. This takes at most four seconds. On Windows and macOS Probe
// does nothing and returns nil.
func Probe() error {
	display := os.Getenv("DISPLAY")
	if display == "" {
		if wl := os.Getenv("WAYLAND_DISPLAY"); wl != "" {
			return fmt.Errorf("%w: WAYLAND_DISPLAY is %.40q but DISPLAY is not set; XWayland is needed", ErrNoDisplay, wl)
		}
		return fmt.Errorf("%w: neither DISPLAY nor WAYLAND_DISPLAY is set", ErrNoDisplay)
	}
	host, number, err := parseDisplay(display)
	if err != nil {
		return fmt.Errorf("%w: DISPLAY is %.40q: %w", ErrNoDisplay, display, err)
	}
	if err := dialX(host, number); err != nil {
		return fmt.Errorf("%w: no X server answers at DISPLAY %.40q: %w", ErrNoDisplay, display, err)
	}
	return nil
}

// parseDisplay splits "host:number.screen". A host that is a path, "unix" or empty means a local socket.
func parseDisplay(s string) (host string, number int, err error) {
	colon := strings.LastIndexByte(s, ':')
	if colon < 0 {
		return "", 0, fmt.Errorf("it has no ':' and number")
	}
	digits, _, _ := strings.Cut(s[colon+1:], ".")
	number, err = strconv.Atoi(digits)
	if err != nil || number < 0 || number > 65535-6000 {
		return "", 0, fmt.Errorf("%.40q is not a display number", digits)
	}
	host = s[:colon]
	if host == "unix" || strings.HasPrefix(host, "/") {
		host = ""
	}
	return host, number, nil
}

func dialX(host string, number int) error {
	const patience = 2 * time.Second
	if host != "" {
		return dial("tcp", net.JoinHostPort(host, strconv.Itoa(6000+number)), patience)
	}
	path := filepath.Join("/tmp/.X11-unix", "X"+strconv.Itoa(number))
	err := dial("unix", path, patience)
	if err != nil && dial("unix", "@"+path, patience) == nil { // Linux's abstract socket
		return nil
	}
	return err
}

func dial(network, addr string, patience time.Duration) error {
	c, err := net.DialTimeout(network, addr, patience)
	if err != nil {
		return err
	}
	return c.Close()
}

// SoftwareLikely reports whether the CPU probably renders. It returns true if there is no device of a graphics card. It
// also returns true if the environment variable LIBGL_ALWAYS_SOFTWARE is set, and is not empty, 0 or false. In this case
// bloom is off by default, and the scene has logical resolution by default. On Windows and macOS SoftwareLikely returns
// false.
func SoftwareLikely() bool {
	if v := os.Getenv("LIBGL_ALWAYS_SOFTWARE"); v != "" && v != "0" && v != "false" {
		return true
	}
	for _, pattern := range [...]string{"/dev/dri/renderD*", "/dev/dri/card*", "/dev/nvidia[0-9]*"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 { // the pattern is well formed
			return false
		}
	}
	return true
}
