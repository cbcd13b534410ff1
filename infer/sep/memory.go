package sep

func newChunk() *chunk { return new(chunk) }
