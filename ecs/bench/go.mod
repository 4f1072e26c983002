module github.com/strata-go/strata/ecs/bench

go 1.26.0

require (
	github.com/mlange-42/ark v0.8.0
	github.com/strata-go/strata v0.0.0
	github.com/yohamta/donburi v1.15.7
	golang.org/x/sys v0.49.0
)

replace github.com/strata-go/strata => ../..
