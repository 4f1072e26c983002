package main

// A need is what a workload asks of an allocator that is configured before its first use.
type need struct {
	largest uintptr // block in bytes
	bytes   uintptr // live at once, about
	blocks  int     // live at once
	fixed   uintptr // bytes of each block, or 0 for blocks of many sizes
	option  string  // huge, warm or quick
}
