#!/bin/sh
# Prints the tables of docs/performance.md on generalised linear models: processor seconds of whole fits, one thread each, and their
# ratio to those of LIBLINEAR's mode (-s 0 -c 1 -B 1, Debian package liblinear-tools), or of an older binary of Credence. Every
# figure is the least and the median of runs that take turns, so that whatever else the machine does strikes all alike; ratios are
# those of the least. BLAS libraries of peers have one thread, for a second one waits busily, and the kind of core is stated to
# OpenBLAS, since older ones take a processor that they do not know for one of 2004.
#
#	sh bench/paired.sh path/to/credence path/to/data [runs [path/to/older/credence]]
#
# tall is 464,809 rows of 10 correlated numbers and two categories of 4 and 40 levels, wide4 and wide5 20,000 rows of 50 of 10,000 and
# 100,000 columns, by a power law, and cross 100,000 rows of two categories of 1,000 levels; they are made by awk, from a seed. So are
# the numbers of plain CSV that stand beside the older binary: normal columns and a target of the family.
set -eu
credence=$(realpath "$1") data=$(realpath "$2") runs=${3:-3} older=${4:+$(realpath "$4")}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export OPENBLAS_NUM_THREADS=1
case $(grep -m1 '^flags' /proc/cpuinfo) in
*avx512f*) export OPENBLAS_CORETYPE=SkylakeX ;;
*avx2*) export OPENBLAS_CORETYPE=Haswell ;;
esac
seconds() { # name, command …: appends the processor seconds of a command to the file of that name
	name=$1
	shift
	/usr/bin/time -o time -f '%U %S' sh -c 'n=$1; shift; while [ "$n" -gt 0 ]; do "$@" || exit 1; n=$((n - 1)); done' sh "${times:-1}" "$@" >/dev/null 2>log || { cat log >&2; exit 1; }
	awk -v n="${times:-1}" '{ printf "%.3g\n", ($1 + $2) / n }' time >>"$name"
}
least() { sort -n "$1" | head -1; }
median() { sort -n "$1" | awk '{ x[NR] = $1 } END { print (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'; }
both() { echo "$(least "$1") / $(median "$1")"; }
ratio() { awk -v a="$(least "$1")" -v b="$(least "$2")" 'BEGIN { if (b > 0) printf "%.2f", a / b; else printf "-" }'; }
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

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), least and median of $runs"
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
	mode= share=
	[ "$many" ] || mode=$(both mode) share=$(ratio mode peer)
	echo "| $set | $(both peer) | $(both default) | $(ratio default peer) | $mode | $share |"
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
	echo "| $label | $(both before) | $(both after) | $(ratio after before) |"
}
pair 'tall, `svi`' tall libsvm --engine svi
pair 'tall, `svi(batch=512)`' tall libsvm --engine 'svi(batch=512)'
pair 'tall, default' tall libsvm
pair 'w8a, `svi(covariance=full, hyper=mode)`' w8a libsvm --engine 'svi(covariance=full, hyper=mode)'
pair '`y ~ x + hash(a, b)`' cross csv --formula 'y ~ x + hash(a, b)'

# normal columns, and a target that is normal or Poisson about a line of them
numbers() { # rows, columns, family
	awk -v n="$1" -v p="$2" -v family="$3" 'BEGIN {
		srand(5); for (j = 1; j <= p; j++) printf "x%d,", j; print "y"
		for (i = 0; i < n; i++) {
			f = 0.5
			for (j = 1; j <= p; j++) { x = sqrt(-2 * log(1 - rand())) * cos(6.283185 * rand()); f += x * (j % 3 - 1) / (3 * sqrt(p)); printf "%.4f,", x }
			if (family == "gaussian") { printf "%.4f\n", f + sqrt(-2 * log(1 - rand())) * cos(6.283185 * rand()); continue }
			y = 0; t = exp(-exp(f)); for (u = rand(); u > t; u *= rand()) y++
			print y
		}
	}'
}
rows() { # rows, columns, family
	numbers "$@" >numbers
	pair "$3, $1 x $2" numbers csv --formula 'y ~ .' --family "$3"
}
rows 100000 30 gaussian
rows 10000 200 gaussian
rows 10000 30 poisson
rows 100000 30 poisson
times=20 # of a command, since clocks tick every .01 s
rows 500 10 gaussian
rows 500 10 poisson
