package process

import "time"

// Clock measures wall and processor time from a moment on.
type Clock struct {
	wall time.Time
	cpu  time.Duration
}

// Start returns a clock that starts now.
func Start() Clock { return Clock{wall: time.Now(), cpu: CPU()} }

// Seconds returns the wall and processor seconds since the clock was started.
func (c Clock) Seconds() (wall, cpu float64) {
	return time.Since(c.wall).Seconds(), (CPU() - c.cpu).Seconds()
}
