//go:build race

package resident

const raceDetector = true
