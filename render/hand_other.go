//go:build !js

package render

// inHand guesses the device before anything was pressed.
func inHand() Device { return Keyboard }
