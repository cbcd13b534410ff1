//go:build !amd64 || purego

package kernel

func detect() ISA { return PureGo }

func micro64(ISA) *micro[float64] { return microGo[float64]() }

func micro32(ISA) *micro[float32] { return microGo[float32]() }
