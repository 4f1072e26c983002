package render

import (
	"fmt"
	"strings"
	"syscall/js"
)

// Probe returns nil if a window can probably be opened, or an error that wraps ErrNoDisplay. In a browser a window
// cannot be opened if there is no document.
func Probe() error {
	if !js.Global().Get("document").Truthy() {
		return fmt.Errorf("%w: there is no document; this is not a browser page", ErrNoDisplay)
	}
	return nil
}

// SoftwareLikely reports whether the CPU probably renders. In a browser it returns true if the WebGL renderer has a
// name such as SwiftShader, or if there is no WebGL 2. In this case bloom is off by default, and the scene has logical
// resolution by default.
func SoftwareLikely() bool {
	doc := js.Global().Get("document")
	if !doc.Truthy() {
		return true
	}
	gl := doc.Call("createElement", "canvas").Call("getContext", "webgl2")
	if !gl.Truthy() {
		return true
	}
	name := gl.Get("RENDERER")
	if ext := gl.Call("getExtension", "WEBGL_debug_renderer_info"); ext.Truthy() {
		name = ext.Get("UNMASKED_RENDERER_WEBGL")
	}
	s := strings.ToLower(gl.Call("getParameter", name).String())
	return strings.Contains(s, "swiftshader") || strings.Contains(s, "llvmpipe") || strings.Contains(s, "software")
}
