#!/bin/sh
# Prints the tables of docs/performance.md on generalised linear models: processor seconds of whole fits, one thread each, and their
# ratio to those of LIBLINEAR's mode (-s 0 -c 1 -B 1, Debian package liblinear-tools), or of an older binary of Credence. Every
# figure is the median of runs that take turns, so that whatever else the machine does strikes all alike.
#
#	sh bench/paired.sh path/to/credence path/to/data [runs [path/to/older/credence]]
#
# tall is 464,809 rows of 10 correlated numbers and two categories of 4 and 40 levels, wide4 and wide5 20,000 rows of 50 of 10,000 and
# 100,000 columns, by a power law, and cross 100,000 rows of two categories of 1,000 levels; they are made by awk, from a seed.
set -eu
credence=$(realpath "$1") data=$(realpath "$2") runs=${3:-3} older=${4:+$(realpath "$4")}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
seconds() { # name, command …: appends the processor seconds of a command to the file of that name
	name=$1
	shift
	/usr/bin/time -o time -f '%U %S' "$@" >/dev/null 2>log || { cat log >&2; exit 1; }
	awk '{ printf "%.2f\n", $1 + $2 }' time >>"$name"
}
median() { sort -n "$1" | awk '{ x[NR] = $1 } END { print (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
fit() { # binary, file, format, arguments …
	binary=$1 file=$2 format=$3
	shift 3
	seconds "$now" "$binary" fit "$file" --format "$format" --threads 1 --quiet --output fitted "$@"
}

awk 'BEGIN {
	srand(1)
	for (i = 0; i < 464809; i++) {
		common = rand() + rand() + rand() - 1.5; f = common; line = ""
		for (j = 1; j <= 10; j++) { x = common + rand() + rand() - 1; f += x * (j % 3 - 1) / 2; line = line sprintf(" %d:%.4f", j, x) }
		c = int(4 * rand()); s = int(40 * rand() * rand()); f += (c - 1.5) / 2 + (s % 5 - 2) / 2
		print (rand() < 1 / (1 + exp(-f)) ? "+1" : "-1") line " " 11 + c ":1 " 15 + s ":1"
	}
}' >tall
wide() { # columns, seed
	awk -v p="$1" -v seed="$2" 'BEGIN {
		srand(seed)
		for (j = 1; j <= p; j++) w[j] = rand() + rand() + rand() - 1.5
		for (i = 0; i < 20000; i++) {
			split("", row); f = m = 0; line = ""
			while (m < 50) { j = int(exp(rand() * log(p + 1))); if (!(j in row)) { row[j] = 1; f += w[j] / 2; at[m++] = j } }
			for (a = 1; a < m; a++) { j = at[a]; for (b = a; b > 0 && at[b - 1] > j; b--) at[b] = at[b - 1]; at[b] = j }
			for (a = 0; a < m; a++) line = line " " at[a] ":1"
			print (rand() < 1 / (1 + exp(-f)) ? "+1" : "-1") line
		}
	}'
}
wide 10000 3 >wide4
wide 100000 4 >wide5
for set in a9a ijcnn1 w8a reuters; do gunzip -c "$data/$set/$set.gz" >"$set"; done

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), medians of $runs"
echo
echo '| set | LIBLINEAR | default | ratio | svi(covariance=full, hyper=mode) | ratio |'
echo '|---|---:|---:|---:|---:|---:|'
for set in a9a ijcnn1 w8a tall reuters wide4 wide5; do
	many= # weights, of which no covariances are kept
	case $set in reuters | wide?) many=yes ;; esac
	rm -f peer default mode
	for _ in $(seq "$runs"); do
		seconds peer liblinear-train -s 0 -c 1 -B 1 -q "$set" model
		now=default fit "$credence" "$set" libsvm
		[ "$many" ] || now=mode fit "$credence" "$set" libsvm --engine 'svi(covariance=full, hyper=mode)'
	done
	peer=$(median peer) default=$(median default) mode= share=
	[ "$many" ] || mode=$(median mode) share=$(ratio "$(median mode)" "$peer")
	echo "| $set | $peer | $default | $(ratio "$default" "$peer") | $mode | $share |"
done
[ "$older" ] || exit 0

awk 'BEGIN {
	srand(2); print "a,b,x,y"
	for (i = 0; i < 100000; i++) {
		a = int(1000 * rand()); b = int(1000 * rand()); x = rand()
		print "a" a ",b" b "," x "," (rand() < 1 / (1 + exp(-(x - 0.5 + (a % 7 - 3) / 4 + (b % 5 - 2) / 4))))
	}
}' >cross
echo
echo '| fit | older | now | ratio |'
echo '|---|---:|---:|---:|'
pair() { # label, file, format, arguments …
	label=$1
	shift
	rm -f before after
	for _ in $(seq "$runs"); do
		now=before fit "$older" "$@"
		now=after fit "$credence" "$@"
	done
	before=$(median before) after=$(median after)
	echo "| $label | $before | $after | $(ratio "$after" "$before") |"
}
pair 'tall, `svi`' tall libsvm --engine svi
pair 'tall, `svi(batch=512)`' tall libsvm --engine 'svi(batch=512)'
pair 'tall, default' tall libsvm
pair 'w8a, `svi(covariance=full, hyper=mode)`' w8a libsvm --engine 'svi(covariance=full, hyper=mode)'
pair '`y ~ x + hash(a, b)`' cross csv --formula 'y ~ x + hash(a, b)'
