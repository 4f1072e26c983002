//go:build !js

package render

// inHand guesses what the player holds before anything was pressed: desks have keyboards.
func inHand() Device { return Keyboard }
