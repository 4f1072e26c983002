module github.com/strata-go/strata/.ci/words

go 1.26.0
