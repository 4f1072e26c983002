package resident

import (
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"path"
	"strings"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// A Class is a kind of owner of resident memory.
type Class uint8

// The classes, in the order of the table in the package comment. The table describes how each class is recognized.
const (
	Tiers       Class  = iota // the manager's tiers
	Pages                     // other reservations of package page: own allocators, columns, a second manager
	GoHeap                    // the Go heap, with goroutine stacks and the free part of the heap
	GoRuntime                 // the Go runtime's metadata
	Code                      // the program's file: text, data, zeroed data
	Libraries                 // shared libraries, also the kernel's
	Native                    // allocations of C libraries: malloc, and code generated at run time
	Stacks                    // stacks of threads that the Go runtime did not allocate
	Driver                    // memory shared with a driver, the display or another process
	Files                     // other files
	Unexplained               // everything else
	Count       = iota        // the number of classes
)

var classNames = [Count]string{"tiers", "pages", "go_heap", "go_runtime", "code", "libraries", "native", "stacks", "driver", "files", "unexplained"}

var classTitles = [Count]string{"tiers", "other reservations of page", "Go heap", "Go runtime", "code", "libraries",
	"C libraries' heap and JIT", "stacks of threads", "driver and shared memory", "other files", "unexplained"}

// String returns the name used in files, or "class(n)" for an unknown Class.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// Usage is memory in bytes.
type Usage struct {
	RSS     uint64 `json:"rss"`     // resident
	Pss     uint64 `json:"pss"`     // RSS, with each shared page divided by the number of processes that map it
	Private uint64 `json:"private"` // the part of RSS that no other process maps
	Shared  uint64 `json:"shared"`  // the part of RSS that other processes map, too
	Dirty   uint64 `json:"dirty"`   // the part of Private that was written to, so the system cannot drop it
}

func (u *Usage) add(v Usage) {
	u.RSS += v.RSS
	u.Pss += v.Pss
	u.Private += v.Private
	u.Shared += v.Shared
	u.Dirty += v.Dirty
}

// take takes rss resident bytes out of u, at most all, and of the others their share.
func (u *Usage) take(rss uint64) (part Usage) {
	if rss >= u.RSS {
		part, *u = *u, Usage{}
		return part
	}
	share := func(n *uint64) uint64 {
		hi, lo := bits.Mul64(*n, rss)
		q, _ := bits.Div64(hi, lo, u.RSS) // rss < u.RSS, so the quotient fits
		*n -= q
		return q
	}
	part = Usage{Pss: share(&u.Pss), Private: share(&u.Private), Shared: share(&u.Shared), Dirty: share(&u.Dirty), RSS: rss}
	u.RSS -= rss
	return part
}

// A Library is a file of the class Libraries, or a mapping of the kernel in this class.
type Library struct {
	Name string `json:"name"` // the path of the file, or the kernel's name such as [vdso]
	Usage
}

// A Mapping is a mapping of the process that has, or may have, memory without a known owner. Its Usage does not include
// the parts of the mapping whose owner is known.
type Mapping struct {
	From, To uint64 // addresses
	Perm     string // as in rw-p
	Name     string // empty if the mapping is anonymous
	Usage
}

// MaxSuspects is the largest length of Report.Suspects. If there are more suspects, the largest are listed.
const MaxSuspects = 16

// A Report has the owners of the process's resident memory at one moment. Read, or Note and Fill, fill a Report. A
// Report belongs to one goroutine at a time.
type Report struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) the classes add up to RSS
	//	(2) the tiers add up to the class Tiers, and the libraries to Libraries
	//	(3) no suspect is larger than the one before it

	RSS      uint64 // resident bytes: the sum over the mappings
	Mappings int    // the number of mappings

	Classes [Count]Usage
	Tiers   [tiers.Count]Usage // the parts of the class Tiers, for the manager of Read

	// Libraries has one entry for each file of the class Libraries with resident memory. Suspects lists the
	// largest mappings whose owner is unknown or in doubt, at most MaxSuspects. In both slices the largest RSS comes
	// first. The next Read or Fill of this Report overwrites the arrays of both slices: if you keep a copy of the
	// Report, clone both.
	Libraries []Library
	Suspects  []Mapping

	// Named reports that the kernel names the Go runtime's mappings. If Named is true, the names decide which memory is
	// Go's and which is unexplained. If it is false, Go's memory is found by elimination, which is less exact (see the
	// package comment).
	Named bool

	work work
}

// Share returns the unexplained part of RSS, from 0 to 1. If RSS is 0, Share returns 0.
func (r *Report) Share() float64 {
	if r.RSS == 0 {
		return 0
	}
	return float64(r.Classes[Unexplained].RSS) / float64(r.RSS)
}

// Check verifies the report and returns the first inconsistency, or nil. The classes must add up to RSS, and the
// tiers and the libraries to their classes. The suspects must be in order of size.
func (r *Report) Check() error {
	var all, inTiers, inLibraries uint64
	for _, u := range r.Classes {
		all += u.RSS
	}
	for _, u := range r.Tiers {
		inTiers += u.RSS
	}
	for i := range r.Libraries {
		inLibraries += r.Libraries[i].RSS
	}
	switch {
	case all != r.RSS:
		return fmt.Errorf("resident: the classes add up to %d bytes, RSS is %d", all, r.RSS)
	case inTiers != r.Classes[Tiers].RSS:
		return fmt.Errorf("resident: the tiers add up to %d bytes, their class is %d", inTiers, r.Classes[Tiers].RSS)
	case inLibraries != r.Classes[Libraries].RSS:
		return fmt.Errorf("resident: the libraries add up to %d bytes, their class is %d", inLibraries, r.Classes[Libraries].RSS)
	}
	for i := 1; i < len(r.Suspects); i++ {
		if r.Suspects[i].RSS > r.Suspects[i-1].RSS {
			return fmt.Errorf("resident: suspect %d has %d bytes, the one before it %d", i, r.Suspects[i].RSS, r.Suspects[i-1].RSS)
		}
	}
	return nil
}

// someLibraries is the number of libraries with a row; the others are one row.
const someLibraries = 5

// WriteText writes a table for people. It lists the classes that are not empty and the class Unexplained, and below
// them the suspects. The tiers are listed below the class Tiers. Below the class Libraries are the five largest
// libraries and the sum of the others. WriteText returns the error of w.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	row := func(name string, u Usage) {
		fmt.Fprintf(&b, "%-28s %10s %10s %10s %10s %10s\n", name, memory.FormatBytes(u.RSS), memory.FormatBytes(u.Pss), memory.FormatBytes(u.Private), memory.FormatBytes(u.Shared), memory.FormatBytes(u.Dirty))
	}
	fmt.Fprintf(&b, "%-28s %10s %10s %10s %10s %10s\n", "resident", "rss", "pss", "private", "shared", "dirty")
	var all Usage
	for c, u := range r.Classes {
		all.add(u)
		if u.RSS == 0 && Class(c) != Unexplained {
			continue
		}
		row(classTitles[c], u)
		switch Class(c) {
		case Tiers:
			for t, u := range r.Tiers {
				row("  "+tiers.Tier(t).String(), u)
			}
		case Libraries:
			var others Usage
			for i := range r.Libraries {
				if l := &r.Libraries[i]; i < someLibraries {
					row("  "+path.Base(l.Name), l.Usage)
				} else {
					others.add(l.Usage)
				}
			}
			if n := len(r.Libraries) - someLibraries; n > 0 {
				row(fmt.Sprintf("  %d others", n), others)
			}
		}
	}
	row("all", all)
	fmt.Fprintf(&b, "%d mappings, %.2f %% unexplained\n", r.Mappings, r.Share()*100)
	for i := range r.Suspects {
		s := &r.Suspects[i]
		fmt.Fprintf(&b, "  %x-%x %s %10s of %10s %s\n", s.From, s.To, s.Perm, memory.FormatBytes(s.RSS), memory.FormatBytes(s.To-s.From), s.Name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// row is a class or a tier in files.
type row struct {
	Name string `json:"name"`
	Usage
}

// suspect is a Mapping in files.
type suspect struct {
	Address string `json:"address"` // hexadecimal, from-to: JavaScript's numbers would lose bits
	Perm    string `json:"perm"`
	Name    string `json:"name"`
	Usage
}

// MarshalJSON returns the report as a JSON object with stable names. Sizes are in bytes. All classes and tiers are
// listed, in their order. Pass a *Report to package json: for a Report it does not call this method.
func (r *Report) MarshalJSON() ([]byte, error) {
	out := struct {
		RSS         uint64    `json:"rss"`
		Mappings    int       `json:"mappings"`
		Unexplained float64   `json:"unexplained_share"`
		Named       bool      `json:"named"`
		Classes     []row     `json:"classes"`
		Tiers       []row     `json:"tiers"`
		Libraries   []Library `json:"libraries"`
		Suspects    []suspect `json:"suspects"`
	}{r.RSS, r.Mappings, r.Share(), r.Named, []row{}, []row{}, append([]Library{}, r.Libraries...), []suspect{}}
	for c, u := range r.Classes {
		out.Classes = append(out.Classes, row{Class(c).String(), u})
	}
	for t, u := range r.Tiers {
		out.Tiers = append(out.Tiers, row{tiers.Tier(t).String(), u})
	}
	for i := range r.Suspects {
		s := &r.Suspects[i]
		out.Suspects = append(out.Suspects, suspect{fmt.Sprintf("%x-%x", s.From, s.To), s.Perm, s.Name, s.Usage})
	}
	return json.Marshal(out)
}

// WriteJSON writes the report as the JSON object of MarshalJSON, indented. It returns the error of w.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
