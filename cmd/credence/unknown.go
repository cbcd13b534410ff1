package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/spec"
)

// knownCommand refuses words that are no command, and names the nearest that is.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.Name() == "help" {
		cmd = cmd.Root()
	}
	found, rest, err := cmd.Root().Find(append(strings.Fields(cmd.CommandPath())[1:], args...))
	if err == nil && found != cmd && len(rest) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	problem := fmt.Errorf("unknown command %q", args[0])
	if near := spec.Suggest(args[0], names); near != "" {
		return fmt.Errorf("%w: did you mean %s?", problem, near)
	}
	return problem
}

// most is more arguments than any command line has.
const most = math.MaxInt

// takes refuses fewer or more arguments than a command takes, and says what they are.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= most {
			return nil
		}
		return fmt.Errorf("%s takes %s: write %s %s", cmd.Name(), what, cmd.Parent().CommandPath(), cmd.Use)
	}
}

// badFlag words the refusal of a flag by what the flag takes, or by the flags that there are.
func badFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		return unknownFlag(cmd, unknown)
	}
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	takes := map[string]string{
		"uint64": "a whole number from 0 to 18446744073709551615", "int": "a whole number", "int64": "a whole number",
		"float64": "a number", "bool": "true or false", "duration": "a duration such as 30s or 5m",
	}[invalid.GetFlag().Value.Type()]
	if takes == "" {
		return err
	}
	return fmt.Errorf("--%s %s is not %s", invalid.GetFlag().Name, invalid.GetValue(), takes)
}

// unknownFlag names the nearest flag of the command, or the commands that have one of that name.
func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	short := unknown.GetSpecifiedShortnames()
	name, typed := cmp.Or(short, unknown.GetSpecifiedName()), "--"
	if short != "" {
		typed = "-"
	}
	typed += name
	var names, others []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if slices.Contains(names, name) { // behind one dash, where each letter is a flag
		return fmt.Errorf("unknown flag: %s: did you mean --%s?", typed, name)
	}
	if near := spec.Suggest(name, names); near != "" {
		return fmt.Errorf("unknown flag: %s: did you mean --%s?", typed, near)
	}
	for _, c := range cmd.Root().Commands() {
		if c.Flags().Lookup(name) != nil || len(short) == 1 && c.Flags().ShorthandLookup(short) != nil {
			others = append(others, c.Name())
		}
	}
	if len(others) > 0 {
		return fmt.Errorf("unknown flag: %s is one of %s, not of %s", typed, listed(others), cmd.Name())
	}
	if cmd.Flags().Lookup("engine") != nil {
		for _, e := range fit.Default().Engines {
			if cmd.Name() == "stream" && e.Online == nil || cmd.Name() != "stream" && e.Batch == nil {
				continue
			}
			if slices.ContainsFunc(e.Options(), func(o spec.Option) bool { return o.Key == name }) {
				return fmt.Errorf("unknown flag: %s: it is an option of engines: write --engine '%s(%s=…)'", typed, e.Name, name)
			}
		}
	}
	return fmt.Errorf("unknown flag: %s", typed)
}
