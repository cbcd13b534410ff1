#!/bin/sh
# Prints the cost table of docs/clicks.md: processor seconds of `credence stream`, the model written, beside those of `wc -lw` on the
# same file and of an older binary of Credence in the same run. Every figure is the least of runs that take turns, because
# whatever else the machine does only adds to it.
#
#	sh bench/stream.sh path/to/credence path/to/older/credence runs file ...
#
# Files of libsvm or Vowpal Wabbit text are learned as they are, a .csv with the target click by click ~ hash(.).
set -eu
credence=$(realpath "$1") older=$(realpath "$2") runs=$3
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cost() { # name, command …: appends the processor seconds and the megabytes of a command to the file of that name
	name=$scratch/$1
	shift
	/usr/bin/time -o "$scratch/time" -f '%U %S %M' "$@" >/dev/null 2>"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
	awk '{ printf "%.2f %.0f\n", $1 + $2, $3 / 1024 }' "$scratch/time" >>"$name"
	rm -f "$scratch"/model*
}
least() { sort -n "$scratch/$1" | head -1; }

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), the least of $runs: processor seconds, their ratio to wc -lw, MB"
echo
echo '| file | engine | `wc -lw` | older | now |'
echo '|---|---|---:|---:|---:|'
for file; do
	formula=
	case $file in *.csv) formula='--formula=click ~ hash(.)' ;; esac
	for engine in sep 'ftrl(alpha=0.1)' 'adpredictor(variance=0.01)' 'sgd(rate=0.08)'; do
		rm -f "$scratch"/*
		for _ in $(seq "$runs"); do
			cost wc wc -lw "$file"
			for binary in older credence; do
				eval path=\$$binary
				cost $binary "$path" stream "$file" --engine "$engine" ${formula:+"$formula"} --report 0 --quiet -o "$scratch/model"
			done
		done
		echo "$(least wc | cut -d' ' -f1) $(least older) $(least credence)" | awk -v file="${file##*/}" -v engine="$engine" \
			'{ printf "| %s | `%s` | %.2f | %.2f, %.2f ×, %d | %.2f, %.2f ×, %d |\n", file, engine, $1, $2, $2 / $1, $3, $4, $4 / $1, $5 }'
	done
done
