package render

import "syscall/js"

// inHand guesses what the player holds before anything was pressed: a finger where the browser says that
// nothing points better.
func inHand() Device {
	if m := js.Global().Get("matchMedia"); m.Truthy() && m.Invoke("(pointer: coarse)").Get("matches").Bool() {
		return Touch
	}
	return Keyboard
}
