package main

import "github.com/spf13/cobra"

// commands lists the commands in the order of the help.
func (p *program) commands() []*cobra.Command {
	return []*cobra.Command{
		p.fitCommand(),
		p.predictCommand(),
		p.evaluateCommand(),
		p.inspectCommand(),
		p.streamCommand(),
		p.compareCommand(),
		p.demoCommand(),
	}
}
