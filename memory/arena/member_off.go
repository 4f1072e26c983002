//go:build !memdebug && !race

package arena

// A member is empty outside debug builds.
type member struct{}

func (*member) join(*Frames) {}

func (*Linear) mustBeCurrent(string) {}
