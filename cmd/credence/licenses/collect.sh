#!/bin/sh
# Collects the licences of what the program is linked from: of Go, and of every module, from the module
# cache. A test compares them with what the program is linked from today.
set -eu
cd "$(dirname "$0")"
rm -f *.txt
cp "$(go env GOROOT)/LICENSE" go.txt
go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}' .. | sort -u | while read -r path folder; do
	[ -n "$path" ] || continue
	for text in "$folder"/LICENSE "$folder"/LICENSE.txt "$folder"/NOTICE "$folder"/PATENTS "$folder"/THIRD_PARTY_LICENSES/*; do
		[ -f "$text" ] && cat "$text" >>"$(echo "$path" | tr / _).txt"
	done
done
