//go:build !wrapped

package main

// A heap is the allocator itself: the loops call its methods directly.
type heap = direct

func open(n need) heap { return openDirect(n) }
