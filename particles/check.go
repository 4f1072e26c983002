package particles

import (
	"errors"
	"fmt"
)

// Check verifies the metadata, and the kind and the life of every row. If there are faults, Check returns an error that
// lists them. For each invalid kind, the error has the first row of this kind. If rows have an invalid life, the error
// has only the first such row. If the columns or the number of particles are faulty, Check does not read the rows. For
// a closed System Check returns nil. Check reads three columns once.
func (s *System) Check() error {
	errs := []error{s.columns.check()}
	if s.n < 0 || s.n > s.usable || s.usable > s.max {
		errs = append(errs, fmt.Errorf("particles: %d particles, %d rows, capacity %d are not in order", s.n, s.usable, s.max))
	}
	if s.n > s.peak || s.emitted < uint64(s.n) {
		errs = append(errs, fmt.Errorf("particles: %d live with a peak of %d and %d emitted", s.n, s.peak, s.emitted))
	}
	if err := errors.Join(errs...); err != nil {
		return err // the rows cannot be read
	}
	return errors.Join(s.checkKinds(), s.checkLives())
}

func (s *System) checkKinds() error {
	var errs []error
	var count [maxKinds]uint32
	for i, k := range s.kind[:s.n] {
		if int(k) >= len(s.kinds) && count[k] == 0 {
			errs = append(errs, fmt.Errorf("particles: row %d has kind %d of %d", i, k, len(s.kinds)))
		}
		count[k]++
	}
	for k := range count {
		if count[k] != s.alive[k] {
			errs = append(errs, fmt.Errorf("particles: %d of kind %d live, counted as %d", count[k], k, s.alive[k]))
		}
	}
	return errors.Join(errs...)
}

func (s *System) checkLives() error {
	const full = 1 + 1.0/(1<<20) // left*inv at birth, rounded
	for i, l := range s.left[:s.n] {
		if r := s.birth[i].inv; !(l > 0 && r > 0 && float32(l*r) <= full) {
			return fmt.Errorf("particles: row %d has %v s left of a life of %v s", i, l, 1/r)
		}
	}
	return nil
}
