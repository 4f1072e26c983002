package render

import "syscall/js"

// mayFullscreen reports whether the browser would cover the screen. Some cannot, and the others report an error
// in the page unless the player has just pressed something.
func mayFullscreen() bool {
	document := js.Global().Get("document")
	if !document.Get("fullscreenEnabled").Truthy() && !document.Get("webkitFullscreenEnabled").Truthy() {
		return false
	}
	activation := js.Global().Get("navigator").Get("userActivation")
	return !activation.Truthy() || activation.Get("isActive").Bool()
}
