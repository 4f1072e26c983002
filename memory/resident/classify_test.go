package resident

import (
	"fmt"
	"testing"

	"github.com/strata-go/strata/memory/tiers"
)

const library = "7f9000000000-7f9000001000 r--p 00000000 fe:00 88 /usr/lib/libgreat.so.1\nRss: 0 kB\n"

// The heap is the whole run of mappings around the object, up to the first and the last that there are.
func TestSortHeap_IsTheRunAroundAnObjectFromTheFirstMappingOn(t *testing.T) {
	const text = "c000000000-c000400000 rw-p 00000000 00:00 0\nRss: 100 kB\n" +
		"c000400000-c000800000 rw-p 00000000 00:00 0\nRss: 200 kB\nVmFlags: nh\n" +
		"c000800000-c004000000 ---p 00000000 00:00 0\nRss: 0 kB\n" +
		"c004000000-c004400000 rw-p 00000000 00:00 0\nRss: 400 kB\n"
	for object, want := range map[uint64]uint64{0xc000000000: 700, 0xc0003fffff: 700, 0xc000400000: 700, 0xc004000000: 700, 0xc0043fffff: 700,
		0xbfffffffff: 0, 0xc004400000: 0} {
		f := fakeOf([]byte(text))
		f.object, f.mapped = object, 1<<30
		if r := f.report(t); r.Classes[GoHeap].RSS != want*kib || r.Classes[GoRuntime].RSS != (700-want)*kib {
			t.Errorf("%#x: the Go heap has %d KiB, want %d", object, r.Classes[GoHeap].RSS/kib, want)
		}
	}
}

func TestSortHeap_EndsAtWhatGoDoesNotMap(t *testing.T) {
	for name, beside := range map[string]string{
		"file":          "rw-p 00000000 fe:00 9 /opt/a.dat\nRss: 64 kB\n",
		"nameless":      "rw-p 00000000 fe:00 9\nRss: 64 kB\n",
		"shared":        "rw-s 00000000 00:00 0\nRss: 64 kB\n",
		"code":          "rwxp 00000000 00:00 0\nRss: 64 kB\n",
		"reservation":   "rw-p 00000000 00:00 0\nRss: 64 kB\nVmFlags: nr\n",
		"to be read":    "r--p 00000000 00:00 0\nRss: 64 kB\n",
		"to be run":     "--xp 00000000 00:00 0\nRss: 64 kB\n",
		"to be written": "-w-p 00000000 00:00 0\nRss: 64 kB\n",
	} {
		const heap = "c000000000-c000400000 rw-p 00000000 00:00 0\nRss: 100 kB\n"
		for _, text := range []string{"bfffc00000-c000000000 " + beside + heap, heap + "c000400000-c000800000 " + beside} {
			f := fakeOf([]byte(text))
			f.object, f.mapped = 0xc000001000, 1<<30
			if r := f.report(t); r.Classes[GoHeap].RSS != 100*kib {
				t.Errorf("%s: the Go heap has %d KiB", name, r.Classes[GoHeap].RSS/kib)
			}
		}
	}
	for _, text := range []string{
		"bfffc00000-bffffff000 rw-p 00000000 00:00 0\nRss: 64 kB\nc000000000-c000400000 rw-p 00000000 00:00 0\nRss: 100 kB\n",
		"c000000000-c000400000 rw-p 00000000 00:00 0\nRss: 100 kB\nc000401000-c000800000 rw-p 00000000 00:00 0\nRss: 64 kB\n",
		"c000000000-c000400000 rw-p 00000000 00:00 0\nRss: 100 kB\nc000400000-c000401000 ---p 00000000 00:00 0\nRss: 0 kB\n" +
			"c000401000-c000800000 rw-p 00000000 00:00 0\nRss: 64 kB\n" + library,
	} {
		f := fakeOf([]byte(text))
		f.object, f.mapped = 0xc000001000, 1<<30
		if r := f.report(t); r.Classes[GoHeap].RSS != 100*kib {
			t.Errorf("behind a gap, or a stack: the Go heap has %d KiB in\n%s", r.Classes[GoHeap].RSS/kib, text)
		}
	}
}

func TestStack_LiesAboveAGuardOfAtMost64KiB(t *testing.T) {
	const plain, huge, stack = "---p 00000000 00:00 0\nRss: 0 kB\n", "---p 00000000 00:00 0\nRss: 0 kB\nVmFlags: nh\n", "rw-p 00000000 00:00 0\nRss: 12 kB\n"
	for _, c := range []struct {
		name         string
		from, to     uint64 // of the guard; the stack begins at 0x7f0000100000
		guard, stack string
		rest         string
		want         bool
	}{
		{"a page", 0xff000, 0x100000, plain, stack, library, true},
		{"64 KiB", 0xf0000, 0x100000, plain, stack, library, true},
		{"68 KiB", 0xef000, 0x100000, plain, stack, library, false},
		{"of its kind", 0xff000, 0x100000, huge, stack + "VmFlags: nh\n", library, true},
		{"of another kind", 0xff000, 0x100000, huge, stack, library, false},
		{"a reservation", 0xff000, 0x100000, plain + "VmFlags: nr\n", stack, library, false},
		{"with a gap", 0xfe000, 0xff000, plain, stack, library, false},
		{"to be read", 0xff000, 0x100000, "r" + plain[1:], stack, library, false},
		{"to be written", 0xff000, 0x100000, "-w" + plain[2:], stack, library, false},
		{"to be run", 0xff000, 0x100000, "--x" + plain[3:], stack, library, false},
		{"of a file", 0xff000, 0x100000, "---p 00000000 fe:00 9 /opt/a.dat\nRss: 0 kB\n", stack, library, false},
		{"below what is not written", 0xff000, 0x100000, plain, "r-" + stack[2:], library, false},
		{"without C libraries", 0xff000, 0x100000, plain, stack, "", false},
		{"of package page", 0x80000, 0x81000, plain, stack, library, false},
	} {
		const at = uint64(0x7f0000000000)
		f := fakeOf(fmt.Appendf(nil, "%x-%x %s%x-%x %s%s", at+c.from, at+c.to, c.guard, at+0x100000, at+0x200000, c.stack, c.rest))
		f.mapped = 1 << 30
		r := f.report(t)
		if got := r.Classes[Stacks].RSS == 12*kib; got != c.want {
			t.Errorf("%s: a stack: %t", c.name, got)
		}
	}
	f := fakeOf([]byte("7f00000ff000-7f0000100000 " + plain + "7f0000100000-7f0000200000 " + stack + library))
	f.owners = owners{{from: 0x7f00000ff000, to: 0x7f0000100000, class: Pages}}
	if r := f.report(t); r.Classes[Stacks].RSS != 0 {
		t.Error("above a guard that package page owns, a stack")
	}
	if r := fakeOf([]byte("7f0000100000-7f0000200000 " + stack + library)).report(t); r.Classes[Stacks].RSS != 0 {
		t.Error("the first mapping, a stack")
	}
}

// Anonymous and shared is what a driver has, and of every kind there are two: nothing is left over from a mapping before.
func TestSort_ASharedMappingWithoutANameIsADrivers(t *testing.T) {
	f := fakeOf([]byte("7f0000000000-7f0000100000 rw-s 00000000 00:00 0\nRss: 64 kB\n7f0000200000-7f0000300000 r--s 00000000 00:00 0\nRss: 32 kB\n" + library))
	f.owners = owners{{from: 0x1000, to: 0x2000, class: Tiers, tier: tiers.Slab}}
	wantKiB(t, f.report(t), map[Class]uint64{Driver: 96})
}

// One table for all that has a name.
func TestNameClass_OfEachName(t *testing.T) {
	p := process{exe: "/opt/game"}
	for name, want := range map[string]Class{
		"/opt/game": Code, "[stack]": Stacks, "[stack:77]": Stacks, "[anon: glibc: pthread stack: 5]": Stacks, "[heap]": Native, "[anon: glibc: malloc]": Native,
		"[vdso]": Libraries, "[vvar]": Libraries, "[vvar_vclock]": Libraries, "[vsyscall]": Libraries, "[uprobes]": Libraries, "/lib/a.so": Libraries,
		"/lib/a.so.6": Libraries, "/lib/a.so (deleted)": Libraries, "/lib/a.so.6 (deleted)": Libraries, "/dev/dri/renderD128": Driver, "/dev/nvidia0": Driver,
		"/memfd:lib.so (deleted)": Driver, "/dev/shm/x": Driver, "/SYSV00000000 (deleted)": Driver, "anon_inode:i915.gem": Driver, "[anon_shmem:x]": Driver,
		"/opt/a.dat": Files, "/lib/a.sound": Files, "/opt/game.so/a.dat": Files, "lib.so": Unexplained, "[anon: somebody]": Unexplained, "[heap": Unexplained,
		"[anon: Go: heap]": GoHeap, "[anon: Go: heap reservation]": GoHeap, "[anon: Go: used]": GoHeap, "[anon: Go: gc bits]": GoRuntime,
	} {
		if got := p.nameClass(&mapping{name: name}); got != want {
			t.Errorf("%s is of class %v, want %v", name, got, want)
		}
	}
}
