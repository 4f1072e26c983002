package page

// Options move the price of the first touch (1 to 1.5 µs per 4 KiB page, the "cold" row of
// the allocator benchmarks) from the frame to the commit.
type Options struct {
	// HugePages asks for 2 MiB pages, where the system grants them on advice (Linux).
	HugePages bool
	// Prefault touches every page when it is committed. With HugePages a first touch costs
	// about a tenth of what it costs page by page.
	Prefault bool
}
