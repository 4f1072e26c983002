package render

import "syscall/js"

// inHand guesses the device before anything was pressed: Touch if the browser reports a coarse pointer.
func inHand() Device {
	if m := js.Global().Get("matchMedia"); m.Truthy() && m.Invoke("(pointer: coarse)").Get("matches").Bool() {
		return Touch
	}
	return Keyboard
}
