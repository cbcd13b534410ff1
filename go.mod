module github.com/credence-ml/credence

go 1.26
