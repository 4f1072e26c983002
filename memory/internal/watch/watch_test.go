package watch

import (
	"runtime"
	"slices"
	"testing"
)

func TestTell_CallsEachOnceNewestFirstWhateverOnesDo(t *testing.T) {
	for name, end := range map[string]func(){"return": func() {}, "panic": func() { panic("lost") }, "Goexit": runtime.Goexit} {
		var l List
		var told []int
		var remove func()
		for i := range 5 {
			drop := l.Add(func() {
				if told = append(told, i); i == 4 {
					remove()
					remove()
				}
				end()
			})
			if i == 1 {
				remove = drop
			}
		}
		var got any
		done := make(chan bool)
		go func() {
			defer close(done)
			defer func() { got = recover() }()
			l.Tell()
		}()
		<-done
		if !slices.Equal(told, []int{4, 3, 2, 0}) || l.Len() != 0 || (got == "lost") != (name == "panic") {
			t.Errorf("%s: told %v, %d are left, recovered %v", name, told, l.Len(), got)
		}
		l.Tell()
		if len(told) != 4 {
			t.Errorf("%s: a second Tell told %v", name, told)
		}
	}
}
