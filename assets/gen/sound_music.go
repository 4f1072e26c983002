package main

// music lists the layers of the three realms: of each 16 bars, in four layers that come in with the
// heat. Drums repeat after 4 bars, drive and heat after 8, which divide the whole; the calm layer
// has all 16.
func music() (list []tune) {
	for _, realm := range []struct {
		name   string
		layers [4]func() *score
	}{
		{"ember", [4]func() *score{emberCalm, emberDrums, emberDrive, emberHeat}},
		{"tide", [4]func() *score{tideCalm, tideDrums, tideDrive, tideHeat}},
		{"spore", [4]func() *score{sporeCalm, sporeDrums, sporeDrive, sporeHeat}},
	} {
		for i, layer := range []struct {
			name string
			rms  float64
			bits int
		}{{"calm", -24, 13}, {"drums", -24, 12}, {"drive", -24, 12}, {"heat", -25, 12}} {
			list = append(list, tune{name: realm.name + "_" + layer.name, rate: musicRate, loop: true, bits: layer.bits, rms: layer.rms,
				make: func() []float64 { return realm.layers[i]().x }})
		}
	}
	return list
}

// Ember: a forge at 126 beats a minute, in D minor with the flat second of a threat. A step of 2,625
// samples.
const emberStep = 2625

// emberRoots are the roots of eight bars, and emberThirds what makes the chord.
var (
	emberRoots  = [8]float64{38, 38, 34, 36, 38, 38, 39, 33} // D D Bb C, D D Eb A
	emberThirds = [8]float64{3, 3, 4, 4, 3, 3, 4, 4}
)

func emberCalm() *score {
	s := newScore(emberStep, 16, 16)
	for b := range 16 {
		root, third := emberRoots[b%8], emberThirds[b%8]
		s.pad(s.at(b, 0), s.seconds(17.5), 0.5, 0.5, 0.6, root, root+12, root+19)
		s.pad(s.at(b, 0), s.seconds(17.5), 0.22, 0.9, 0.7, root+24+third)
	}
	// A smith far away, and a call that is answered in the second half.
	s.each("....5.......4..."+"....5.....3....."+"....5.......4..."+"....5..3..3.4...", func(_, at int, v float64) { s.anvil(at, 0.35*v, 587, 0.9) })
	call := []struct {
		bar, step int
		key       float64
		steps     float64
	}{{4, 0, 62, 6}, {4, 6, 65, 2}, {4, 8, 69, 8}, {5, 4, 67, 4}, {5, 8, 65, 8}, {6, 0, 67, 8}, {6, 8, 63, 8}, {7, 0, 64, 12},
		{12, 0, 74, 6}, {12, 6, 72, 2}, {12, 8, 69, 8}, {13, 4, 70, 4}, {13, 8, 69, 8}, {14, 0, 67, 8}, {14, 8, 63, 8}, {15, 0, 61, 12}}
	for _, n := range call {
		s.pad(s.at(n.bar, n.step), s.seconds(n.steps+3), 0.34, 0.08, 0.4, n.key)
	}
	s.through(room(musicRate, 0.5))
	return s
}

func emberDrums() *score {
	s := newScore(emberStep, 16, 4)
	s.each("9.....6...9....."+"9.....6...9..5.."+"9.....6...9....."+"9...6.6.5.9.7.5.", func(_, at int, v float64) { s.kick(at, v, 47) })
	s.each("...4..........5."+"...4.......4..6.", func(_, at int, v float64) { s.tom(at, 0.8*v, 92) })
	s.each("..........4....."+".........4..6...", func(_, at int, v float64) { s.tom(at, 0.7*v, 131) })
	s.each("....8.......8...", func(_, at int, v float64) {
		s.anvil(at, 0.34*v, 415, 0.3)
		s.brush(at, 0.5*v, 1700, 0.8, 0.14)
	})
	s.each("..3...3...3...35", func(_, at int, v float64) { s.brush(at, 0.35*v, 5200, 1.2, 0.05) })
	return s
}

func emberDrive() *score {
	s := newScore(emberStep, 16, 8)
	s.each("9.67.69.6.796.67", func(b, at int, v float64) {
		root := emberRoots[b]
		if v > 0.7 && v < 0.9 {
			root += 12
		}
		s.bass(at, s.seconds(1.05), 0.7*v, root, 900*v)
	})
	s.each("..............4."+"................", func(b, at int, v float64) { s.bass(at, s.seconds(2), 0.7*v, emberRoots[b]+7, 700) })
	return s
}

func emberHeat() *score {
	s := newScore(emberStep, 16, 8)
	shape := [16]float64{0, 12, 7, 12, 0, 12, 7, 15, 0, 12, 7, 12, 19, 15, 12, 7}
	for b := range 8 {
		root := emberRoots[b] + 24
		if root < 60 {
			root += 12
		}
		for i, up := range shape {
			if up == 15 {
				up = 12 + emberThirds[b]
			}
			s.lead(s.at(b, i), s.seconds(1.3), 0.34+0.12*float64((i+1)%4/3), root+up-12, 1500+110*float64(i))
		}
		s.pad(s.at(b, 0), s.seconds(16.5), 0.25, 0.05, 0.3, root, root+7)
	}
	s.each("3.5.3.5.3.5.3.57", func(_, at int, v float64) { s.brush(at, 0.4*v, 5600, 1.5, 0.045) })
	s.each("............6..."+"......5.....6.5.", func(_, at int, v float64) { s.anvil(at, 0.4*v, 880, 0.35) })
	s.through(echo(3*emberStep, 0.35, 0.3))
	return s
}

// Tide: slow water at 90 beats a minute, in F with the raised fourth. A step of 3,675 samples.
const tideStep = 3675

var tideChords = [8][4]float64{
	{53, 60, 64, 69}, {52, 59, 64, 67}, {50, 57, 60, 64}, {55, 59, 62, 66}, // Fmaj7 Em7 Dm9 G6 with B natural throughout
	{53, 57, 64, 71}, {45, 57, 60, 64}, {50, 57, 65, 69}, {48, 55, 62, 64},
}

func tideCalm() *score {
	s := newScore(tideStep, 16, 16)
	for b := range 16 {
		c := tideChords[b%8]
		s.pad(s.at(b, 0), s.seconds(21), 0.4, 1.3, 1.4, c[0], c[1], c[2], c[3])
		s.pad(s.at(b, 0), s.seconds(20), 0.35, 0.8, 1.4, c[0]-12)
	}
	drops := []struct {
		bar, step int
		key       float64
	}{{1, 6, 79}, {1, 12, 76}, {3, 4, 83}, {3, 10, 81}, {5, 6, 76}, {5, 11, 81}, {6, 14, 77}, {7, 8, 76}, {9, 4, 88}, {9, 10, 83}, {10, 8, 81},
		{11, 6, 78}, {11, 12, 79}, {13, 2, 76}, {13, 8, 84}, {14, 6, 81}, {15, 4, 79}, {15, 10, 74}}
	for _, d := range drops {
		s.bell(s.at(d.bar, d.step), 0.34, d.key, 2.6)
	}
	s.through(room(musicRate, 0.8))
	return s
}

func tideDrums() *score {
	s := newScore(tideStep, 16, 4)
	s.each("9.........6....."+"9.........6..4..", func(_, at int, v float64) { s.kick(at, 0.9*v, 43) })
	s.each("......5........."+"......5.......45", func(_, at int, v float64) { s.tom(at, 0.6*v, 110) })
	s.each("........6.......", func(_, at int, v float64) { s.brush(at, 0.5*v, 1200, 0.9, 0.22) })
	s.each("..3..24...3..24.", func(_, at int, v float64) { s.brush(at, 0.3*v, 4300, 1.6, 0.07) })
	// A wave that comes in over four bars and breaks on the first beat.
	n, f := noise(303), &filter{rate: musicRate}
	s.add(s.at(2, 0), s.seconds(32), func(t float64) float64 {
		u := t / s.seconds(32)
		low, _, _ := f.run(n(), 250+900*u*u, 0.8)
		return 0.3 * low * swell(t, s.seconds(32), s.seconds(26), s.seconds(5))
	})
	return s
}

func tideDrive() *score {
	s := newScore(tideStep, 16, 8)
	for b := range 8 {
		root := tideChords[b][0] - 12
		for _, n := range []struct {
			step, long, up, v float64
		}{{0, 5, 0, 0.9}, {6, 3, 0, 0.6}, {10, 3, 7, 0.7}, {14, 2, 12, 0.5}} {
			s.bass(s.at(b, int(n.step)), s.seconds(n.long), 0.7*n.v, root+n.up, 350)
		}
		for i, k := range []int{1, 2, 3, 2, 1, 3} { // a marimba over the bar's dots
			s.pluck(s.at(b, i*3%16), 0.32, tideChords[b][k]+12, 0.5)
		}
	}
	return s
}

func tideHeat() *score {
	s := newScore(tideStep, 16, 8)
	order := [16]int{0, 1, 2, 3, 1, 2, 3, 2, 0, 2, 1, 3, 2, 3, 1, 2}
	for b := range 8 {
		c := tideChords[b]
		for i, k := range order {
			key := c[k] + 12
			if i%5 == 4 {
				key += 12
			}
			s.bell(s.at(b, i), 0.22+0.1*float64((i+3)%4/3), key, 0.9)
		}
		s.pad(s.at(b, 0), s.seconds(18), 0.3, 0.2, 0.8, c[1]+12, c[3]+12)
	}
	s.each("..4...4...4...4.", func(_, at int, v float64) { s.brush(at, 0.4*v, 5000, 1.4, 0.06) })
	s.through(echo(3*tideStep, 0.4, 0.35))
	return s
}

// Spore: something grows in sevens, 2 + 2 + 3, in A with a Dorian sixth. A step of 2,700 samples,
// fourteen to the bar.
const sporeStep = 2700

var (
	sporeRoots = [8]float64{45, 45, 43, 50, 45, 48, 43, 40} // A A G D, A C G E
	sporeScale = [7]float64{0, 2, 3, 5, 7, 9, 10}
)

// sporeKey is a degree of the scale above A, in octaves of seven.
func sporeKey(degree int) float64 {
	octave := degree / 7
	return 57 + 12*float64(octave) + sporeScale[degree%7]
}

func sporeCalm() *score {
	s := newScore(sporeStep, 14, 16)
	for b := range 16 {
		root := sporeRoots[b%8]
		s.pad(s.at(b, 0), s.seconds(15.5), 0.36, 0.7, 0.7, root, root+7, root+12)
	}
	theme := [16][]int{ // degree at steps 0, 4, 8, 11; -1 rests
		{4, -1, 6, 7}, {-1, 9, 8, -1}, {6, -1, 4, -1}, {3, 5, -1, 7}, {4, -1, 6, 7}, {9, -1, 11, -1}, {10, 8, 6, -1}, {4, -1, -1, 1},
		{7, -1, 6, 4}, {-1, 2, 4, -1}, {6, 8, -1, 10}, {9, -1, 7, -1}, {7, 11, -1, 9}, {8, -1, 7, 6}, {6, -1, 3, -1}, {1, 4, -1, -1}}
	for b, bar := range theme {
		for i, d := range bar {
			if d >= 0 {
				s.pluck(s.at(b, []int{0, 4, 8, 11}[i]), 0.5, sporeKey(d), 1.1)
			}
		}
	}
	s.through(echo(6*sporeStep, 0.4, 0.4))
	s.through(room(musicRate, 0.4))
	return s
}

func sporeDrums() *score {
	s := newScore(sporeStep, 14, 4)
	s.each("9.......7....."+"9.......7..5..", func(_, at int, v float64) { s.kick(at, 0.9*v, 50) })
	s.each("....7......6..", func(_, at int, v float64) { s.tom(at, 0.6*v, 165) })
	s.each("..5...4...5.4."+"..5...4.4.5.46", func(_, at int, v float64) { s.pluck(at, 0.4*v, 86, 0.09) })
	s.each("....6......5..", func(_, at int, v float64) { s.brush(at, 0.45*v, 2100, 1.1, 0.12) })
	s.each("3.2.3.2.3.23.2", func(_, at int, v float64) { s.brush(at, 0.3*v, 5000, 1.8, 0.04) })
	return s
}

func sporeDrive() *score {
	s := newScore(sporeStep, 14, 8)
	s.each("9..5.7..8..6.5", func(b, at int, v float64) {
		root := sporeRoots[b] - 12
		if v > 0.6 && v < 0.8 {
			root += 12
		}
		s.bass(at, s.seconds(1.7), 0.7*v, root, 700*v)
	})
	s.each("....5...5..5..", func(b, at int, v float64) {
		s.pluck(at, 0.5*v, sporeRoots[b]+19, 0.4)
		s.pluck(at, 0.4*v, sporeRoots[b]+24, 0.4)
	})
	return s
}

func sporeHeat() *score {
	s := newScore(sporeStep, 14, 8)
	up := [14]int{0, 4, 7, 2, 6, 9, 4, 7, 11, 9, 6, 4, 8, 2}
	shift := [8]int{0, 0, 6, 3, 0, 2, 6, 4}
	for b := range 8 {
		for i, d := range up {
			s.pluck(s.at(b, i), 0.4+0.2*float64((13-i)/13), sporeKey((d+shift[b])%14)+12, 0.35)
			if i%2 == 0 {
				s.lead(s.at(b, i), s.seconds(1.1), 0.16, sporeRoots[b]+12+[]float64{0, 7, 12}[i/2%3], 1800-100*float64(i))
			}
		}
	}
	s.each("4.4.4.4.4.44.4", func(_, at int, v float64) { s.brush(at, 0.35*v, 5600, 1.6, 0.04) })
	s.through(echo(4*sporeStep, 0.3, 0.3))
	return s
}
