package overlay

import (
	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory/meter"
)

type (
	ebitenKey   = ebiten.Key
	meterConfig = meter.Config
)

const (
	keyF3      = ebiten.KeyF3
	ebitenKeyG = ebiten.KeyG
)
