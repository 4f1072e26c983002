package resident

import (
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"path"
	"strings"

	"github.com/strata-go/strata/memory/tiers"
)

// A Class is a kind of owner of resident memory.
type Class uint8

// The classes, in the order of the table. What is known of each, and how, is in the package
// documentation.
const (
	Tiers       Class  = iota // the manager's tiers
	Pages                     // other reservations of package page: own allocators, columns, a second manager
	GoHeap                    // the Go heap, with goroutine stacks and what is free in it
	GoRuntime                 // the Go runtime's books
	Code                      // the program's file: text, data, zeroed data
	Libraries                 // shared libraries, and the kernel's own
	Native                    // what C libraries allocated: malloc, and code made at run time
	Stacks                    // of threads that Go did not make a stack for
	Driver                    // what is shared with a driver, the display or another process
	Files                     // other files
	Unexplained               // what remains
	Count       = iota        // how many classes there are
)

var classNames = [Count]string{"tiers", "pages", "go_heap", "go_runtime", "code", "libraries", "native", "stacks", "driver", "files", "unexplained"}

var classTitles = [Count]string{"tiers", "other reservations of page", "Go heap", "Go runtime", "code", "libraries",
	"C libraries' heap and JIT", "stacks of threads", "driver and shared memory", "other files", "unexplained"}

// String returns the name used in files.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// Usage is memory in bytes.
type Usage struct {
	RSS     uint64 `json:"rss"`     // resident
	Pss     uint64 `json:"pss"`     // of it, with each shared page divided by those that share it
	Private uint64 `json:"private"` // of RSS, mapped by nobody else
	Shared  uint64 `json:"shared"`  // of RSS, mapped by others, too
	Dirty   uint64 `json:"dirty"`   // of Private, written to: what nobody can drop and read again
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

// A Library is one of the files that Libraries counts.
type Library struct {
	Name string `json:"name"` // its path, or what the kernel calls its own
	Usage
}

// A Mapping is one that nobody owns, as far as is known.
type Mapping struct {
	From, To uint64 // addresses
	Perm     string // as in rw-p
	Name     string // empty where it is anonymous
	Usage
}

// MaxSuspects is how many mappings a Report lists at most.
const MaxSuspects = 16

// A Report is whose the resident memory of the process is, at one moment. Read fills it.
//
// Invariants, verified by Check in this order:
//
//	(1) the classes add up to RSS
//	(2) the tiers add up to the class Tiers, and the libraries to Libraries
//	(3) no suspect is larger than the one before it
type Report struct {
	RSS      uint64 // bytes resident: the sum over the mappings
	Mappings int    // how many those are

	Classes [Count]Usage
	Tiers   [tiers.Count]Usage // the class Tiers; of the manager that Read was given

	// Libraries are the files of that class, and Suspects the mappings of which Unexplained is the
	// whole or a part, the largest first. Read writes both into the arrays that are there: of a
	// Report that is to be kept, clone them.
	Libraries []Library
	Suspects  []Mapping

	// Named says that the kernel names the Go runtime's mappings: then the split between it and
	// what is unexplained is the kernel's word, and otherwise the balance of the package
	// documentation.
	Named bool

	work work
}

// Share returns what part of RSS is unexplained, from 0 to 1.
func (r *Report) Share() float64 {
	if r.RSS == 0 {
		return 0
	}
	return float64(r.Classes[Unexplained].RSS) / float64(r.RSS)
}

// Check verifies the equations above the type.
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

// someLibraries are as many as a person reads; the others are one row.
const someLibraries = 5

// WriteText writes a table for a person: the classes that have something, with the tiers and the
// largest libraries below theirs, and where something is unexplained the largest suspects.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	row := func(name string, u Usage) {
		fmt.Fprintf(&b, "%-28s %10s %10s %10s %10s %10s\n", name, tiers.Bytes(u.RSS), tiers.Bytes(u.Pss), tiers.Bytes(u.Private), tiers.Bytes(u.Shared), tiers.Bytes(u.Dirty))
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
		fmt.Fprintf(&b, "  %x-%x %s %10s of %10s %s\n", s.From, s.To, s.Perm, tiers.Bytes(s.RSS), tiers.Bytes(s.To-s.From), s.Name)
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

// MarshalJSON is what WriteJSON writes: bytes, stable names, every class and tier in its order.
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

// WriteJSON writes the report as a JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
