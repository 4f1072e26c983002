//go:build !js

package render

func mayFullscreen() bool { return true }
