module github.com/strata-go/strata/demo/game/testdata

go 1.26.0
