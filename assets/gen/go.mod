module github.com/strata-go/strata/assets/gen

go 1.26.0

require github.com/strata-go/strata v0.0.0

require (
	github.com/ebitengine/oto/v3 v3.5.0 // indirect
	github.com/ebitengine/purego v0.11.0 // indirect
	github.com/go-gl/mathgl v1.2.0 // indirect
	github.com/jfreymuth/oggvorbis v1.0.5 // indirect
	github.com/jfreymuth/pulse v0.1.3 // indirect
	github.com/jfreymuth/vorbis v1.0.2 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/strata-go/strata => ../..
