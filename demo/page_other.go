//go:build !js

package main

// attach is for a page. There is none.
func (a *app) attach() (detach func()) { return func() {} }
