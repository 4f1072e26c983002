//go:build !memdebug && !race

package invariant

// Owner is empty unless the build debugs.
type Owner struct{}

// Touch does nothing.
func (*Owner) Touch() {}
