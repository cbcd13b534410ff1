#!/bin/sh
# Fits the same models by two binaries and prints where they differ: the bytes of the model file, else by how much its
# posterior (means in standard deviations, standard deviations relative) and its report (the largest relative difference and its
# place), with the counts of evaluations.
#
#	sh bench/same.sh path/to/credence path/to/older/credence path/to/data [folder [name ...]]
#
# The folder keeps the models, and those of the older binary are made once; names choose among the fits.
set -eu
now=$(realpath "$1") older=$(realpath "$2") data=$(realpath "$3") here=$(realpath "$(dirname "$0")")
folder=${4:-$(mktemp -d)}
test $# -lt 4 && shift 3 || shift 4
names=" $* "
mkdir -p "$folder/now" "$folder/older"
rm -f "$folder"/now/*
fit() { # name, command, file, arguments …
	name=$1
	test "$names" = "  " || case $names in *" $name "*) ;; *) return 0 ;; esac
	shift
	test -e "$folder/older/$name.safetensors" || "$older" "$@" --quiet -o "$folder/older/$name.safetensors" >/dev/null 2>&1 || echo "older: $name failed"
	"$now" "$@" --quiet -o "$folder/now/$name.safetensors" >/dev/null 2>"$folder/log" || { echo "now: $name failed"; cat "$folder/log"; }
}
boston=$data/boston/boston.csv.gz bike=$data/bike_hour/bike_hour.csv.gz nmes=$data/nmes1988/nmes1988.csv.gz claims=$data/fremtpl2_age/fremtpl2_age.csv.gz
gunzip -c "$data/singh_prostate/singh_prostate.csv.gz" | cut -d, -f1-400 >"$folder/genes.csv"
gunzip -c "$bike" | head -1201 >"$folder/bike.csv"

# exact, svi, sep and streams.
fit exact fit "$boston" --target y
fit exact-features fit "$boston" --formula 'y ~ . + rbf(x6, x13, n=40) + poly(x1, 2)'
fit exact-few-rows fit "$folder/genes.csv" --family gaussian --target x1 --formula 'x1 ~ . - y'
fit exact-mode fit "$boston" --formula 'y ~ . + matern32(x6, n=30)' --engine 'exact(hyper=mode)' --seed 3
fit svi-poisson fit "$nmes" --formula 'visits ~ . - nvisits - ovisits - novisits'
fit svi-mixture fit "$folder/bike.csv" --formula 'count ~ temp + humidity + rbf(hour, n=20)' --family poisson --engine 'svi(components=2)'
fit svi-classes fit "$data/a9a/a9a.gz" --format libsvm
fit svi-negbinomial fit "$nmes" --formula 'visits ~ health + chronic + age + rbf(income, n=10)' --family negbinomial
fit sep fit "$data/a9a/a9a.gz" --format libsvm --engine sep
fit stream stream "$data/avazu_sample/avazu_sample.csv.gz" --formula 'click ~ hash(site_id) + hash(app_id) + hash(device_model) + hash(hour)' --report 0
fit stream-ftrl stream "$data/avazu_sample/avazu_sample.csv.gz" --formula 'click ~ hash(.)' --engine 'ftrl(alpha=0.1)' --report 0
fit svi-laplace fit "$claims" --formula 'claims ~ poly(driver_age, 3)' --family poisson --prior normal --engine laplace

# The others.
fit convex-laplace fit "$boston" --target y --prior laplace
fit convex-studentt fit "$boston" --target y --prior studentt
fit convex-classes fit "$data/a9a/a9a.gz" --format libsvm --engine convex
fit convex-normal fit "$boston" --formula 'y ~ . + rbf(x6, n=20, lengthscale=1)' --engine convex
fit convex-few-rows fit "$folder/genes.csv" --target y --engine convex
fit ep fit "$boston" --target y --prior spikeslab --engine ep
fit ep-classes fit "$folder/genes.csv" --target y --prior spikeslab --engine ep
fit gibbs fit "$boston" --target y --prior spikeslab --engine 'gibbs(chains=2)'
fit gibbs-horseshoe fit "$boston" --target y --prior horseshoe
fit laplace fit "$folder/genes.csv" --target y --prior spikeslab --engine laplace
fit laplace-gaussian fit "$boston" --target y --prior spikeslab --engine laplace
fit lasso fit "$boston" --target y --engine lasso
fit ridge fit "$boston" --target y --engine ridge
fit elasticnet fit "$folder/genes.csv" --target y --engine elasticnet
fit cappedl1 fit "$boston" --target y --engine cappedl1
cd "$here" && go run ./same "$folder/now" "$folder/older"
