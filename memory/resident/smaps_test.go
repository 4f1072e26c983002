package resident

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

func TestParse_SaysWhatIsWrongAndWhere(t *testing.T) {
	const head, rss = "1000-3000 rw-p 00000000 00:00 0 \n", "Rss: 4 kB\n"
	for text, want := range map[string]string{
		"Rss: 4 kB\n":                                    "line 1, \"Rss: 4 kB\": no mapping has begun",
		head + "Rss 4 kB\n":                              "line 2, \"Rss 4 kB\": not a field",
		head + "Rss: four kB\n":                          "not a field",
		head + "Rss: 4\n":                                "not a field",
		head + "Rss: -4 kB\n":                            "not a field",
		head + "Rss: 99999999999999999999 kB\n":          "not a field",
		head + "Rss: 18014398509481984 kB\n":             "not a field",
		head + "Rss: 12 kB\n":                            "more than the 8192 bytes",
		head + rss + "Private_Dirty: 9 kB\n":             "more than the 8192 bytes",
		head + rss + "\n":                                "not a field",
		head + rss + ": 4 kB\n":                          "not a field",
		head:                                             "ends within a mapping",
		head + head:                                      "line 2, \"1000-3000 rw-p 00000000 00:00 0 \": the mapping before has no Rss",
		"3000-1000 rw-p 00000000 00:00 0\n" + rss:        "not a mapping",
		"1000-1000 rw-p 00000000 00:00 0\n" + rss:        "not a mapping",
		"1000 rw-p 00000000 00:00 0\n" + rss:             "not a mapping",
		"1000-3000 rw 00000000 00:00 0\n" + rss:          "not a mapping",
		"1000-3000 rw-p 0000000g 00:00 0\n" + rss:        "not a mapping",
		"1000-3000 rw-p 00000000 00:00\n" + rss:          "not a mapping",
		"1000-11000000000000000 rw-p 0 00:00 0\n" + rss:  "not a mapping",
		"1000-3000 rw-p 00000000 00:00 0 /a\n" + rss[:4]: "not a field",
		head + rss + "2000-4000 r--p 0 00:00 0\n" + rss:  "changed while they were read",
		head + rss + head + rss:                          "changed while they were read",
		head + rss + "2fff-4000 r--p 0 00:00 0 \n" + rss: "changed while they were read",
	} {
		maps, err := parse([]byte(text), nil)
		if err == nil || !strings.Contains(err.Error(), want) || len(maps) != 0 {
			t.Errorf("%q: %v, %d mappings; want %q", text, err, len(maps), want)
		}
	}
}

func TestParse_TakesWhatKernelsWrite(t *testing.T) {
	text := "1000-3000 rwxs 00002000 fe:00 77                          /opt/a name (deleted)\n" +
		"Size: 8 kB\nRss:                   8 kB\nPss: 3 kB\nNews: many\nShared_Clean: 1 kB\nShared_Dirty: 2 kB\nPrivate_Clean: 1 kB\nPrivate_Dirty: 4 kB\nVmFlags: rd wr nr nh\n" +
		"3000-fffffffffffff000 ---p 00000000 00:00 0\nRss: 0 kB"
	maps, err := parse([]byte(text), nil)
	if err != nil || len(maps) != 2 {
		t.Fatalf("%d mappings, %v", len(maps), err)
	}
	want := mapping{0x1000, 0x3000, 0x2000, 77, "/opt/a name (deleted)", true, true, true, true, true, true,
		Usage{RSS: 8 << 10, Pss: 3 << 10, Shared: 3 << 10, Private: 5 << 10, Dirty: 4 << 10}}
	if maps[0] != want || maps[1] != (mapping{from: 0x3000, to: 0xfffffffffffff000}) {
		t.Errorf("%+v", maps)
	}
	if maps[0].perm() != "rwxs" || maps[1].perm() != "---p" {
		t.Error(maps[0].perm(), maps[1].perm())
	}
	if maps, err = parse(nil, maps); err != nil || len(maps) != 2 {
		t.Errorf("nothing more: %d mappings, %v", len(maps), err)
	}
}

// The largest figure is believed where the mapping is that large, one more is no figure.
func TestParse_TakesFiguresUpTo8EiB(t *testing.T) {
	for kB, want := range map[string]uint64{"9007199254740991": 1<<63 - 1<<10, "9007199254740992": 0} {
		maps, err := parse([]byte("1000-fffffffffffff000 rw-p 0 00:00 0\nRss: "+kB+" kB"), nil)
		if (err == nil) != (want > 0) || err == nil && maps[0].use.RSS != want || err != nil && !errors.Is(err, errField) {
			t.Errorf("%s kB: %+v, %v", kB, maps, err)
		}
	}
}

// Mappings of one file lie side by side, and there are hundreds.
func TestParse_KeepsANameOnceWhereItStaysTheSame(t *testing.T) {
	maps, err := parse([]byte("1000-2000 r--p 0 fe:00 7 /lib/a.so\nRss: 4 kB\n2000-3000 r-xp 1000 fe:00 7 /lib/a.so\nRss: 4 kB\n3000-4000 r--p 0 fe:00 8 /lib/b.so\nRss: 0 kB"), nil)
	if err != nil || len(maps) != 3 || maps[1].name != "/lib/a.so" || maps[2].name != "/lib/b.so" {
		t.Fatalf("%+v, %v", maps, err)
	}
	if unsafe.StringData(maps[0].name) != unsafe.StringData(maps[1].name) {
		t.Error("the second has a copy of the name")
	}
}

// FuzzParse: whatever smaps holds, and whoever owns what, the books add up or there is an error.
func FuzzParse(f *testing.F) {
	names, err := filepath.Glob("testdata/*.smaps")
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, uint64(0x7f0010000000), uint64(1<<20), uint64(4<<20))
		f.Add(text, uint64(0xd93c001000), uint64(0), uint64(1<<30))
	}
	f.Add([]byte("1000-3000 rw-p 0 00:00 0\nRss: 8 kB\n3000-4000 rw-p 0 00:00 9 /a.so\nRss: 0 kB"), uint64(0), uint64(0x3000), uint64(0))
	f.Fuzz(func(t *testing.T, text []byte, at, size, mapped uint64) {
		p := fakeOf(text)
		p.object, p.mapped = at, mapped
		p.process.pagemap = func(first uint64, entries []uint64) error {
			for i := range entries {
				entries[i] = (first + uint64(i)) * 0x9e3779b97f4a7c15
			}
			return nil
		}
		p.process.peek = func(addr uint64, b []byte) bool {
			for i := range b {
				b[i] = text[(addr>>12+uint64(i))%uint64(len(text))]
			}
			return true
		}
		p.process.header = func(*mapping) []segment { segs, _ := segments(text); return segs }
		maps, err := parse(text, nil)
		for i := range maps {
			if maps[i].size() > 1<<32 { // pagemap is read page by page
				return
			}
		}
		p.owners = p.owners.claim(owner{from: at, to: at + size, class: Tiers, tier: 2})
		p.owners = p.owners.claim(owner{from: at / 2, to: at/2 + 2*size, class: Pages})
		var r Report
		if failed := p.fill(&r); (failed == nil) != (err == nil) || errors.Is(failed, errTorn) != errors.Is(err, errTorn) {
			t.Fatalf("parse says %v, fill %v", err, failed)
		}
		if err := r.Check(); err == nil {
			return
		} else if len(maps) > 0 {
			t.Error(err)
		}
	})
}

func TestSegments_ReadsBothWidthsAndRefusesTheRest(t *testing.T) {
	narrow := make([]byte, 200)
	copy(narrow, "\x7fELF\x01\x02")
	narrow[31], narrow[43], narrow[45] = 52, 32, 2 // big-endian
	copy(narrow[52+32:], []byte{0, 0, 0, 1, 0, 0, 0x10, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 9})
	if segs, err := segments(narrow); err != nil || len(segs) != 1 || segs[0] != (segment{0x1000, 0x2000, 5, 9}) {
		t.Errorf("%+v, %v", segs, err)
	}
	least := append([]byte(nil), narrow[:64]...)
	least[45] = 0 // of no segments
	if segs, err := segments(least); err != nil || len(segs) != 0 {
		t.Errorf("of 64 bytes: %+v, %v", segs, err)
	}
	for name, change := range map[string]func([]byte) []byte{
		"magic": func(b []byte) []byte { b[0] = 0; return b }, "short": func(b []byte) []byte { return b[:63] },
		"endian": func(b []byte) []byte { b[5] = 3; return b }, "entry": func(b []byte) []byte { b[43] = 31; return b },
		"table": func(b []byte) []byte { b[31] = 201; return b }, "beyond": func(b []byte) []byte { b[45] = 5; return b },
	} {
		if segs, err := segments(change(append([]byte(nil), narrow...))); err == nil {
			t.Errorf("%s: %+v", name, segs)
		}
	}
}
