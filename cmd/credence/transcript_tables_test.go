package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// transcriptTables are the files that transcripts read, by name.
//
//   - claims.csv, new.csv and april.csv, 240, 60 and 330 rows: one target of every family (count, cost, loss, hit,
//     kind, grade, wins of 8, price), numbers x, z (some missing), area, a category region, groups g of 12 levels and s
//     of 40, a date, times day and hour, weights w, exposures e. new.csv has levels that claims.csv lacks.
//   - long.csv, 9,000 rows of y, hit, count, x, z, g, w: beyond one block of rows of everything that goes by blocks.
//   - genes.csv, 60 rows of y, hit and 40 columns of which three tell.
//   - clicks.vw and clicks.libsvm, 600 rows.
//   - visits.csv, 120 rows of y, x, a time of day, and schools within districts, with missing values in words;
//     euro.csv, the same with semicolons, decimal commas and points between thousands.
//   - pairs.csv, 1,500 rows of y, hit, x, crossed groups a and b of hundreds of levels, and c, in which those of a are
//     nested.
//   - waves.csv, 600 rows of a function y of t without much noise.
//   - throng.csv, 5,500 rows of crossed a and b of 2,600 and 2,400 levels.
//   - torn.csv, with a row that is short, and wrong.csv, with a word among 12,000 numbers.
func transcriptTables() map[string]string {
	tables := map[string]string{}
	claims := func(name string, rows int, seed uint64, levels int) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		b.WriteString("count,cost,loss,hit,kind,grade,wins,price,x,z,area,region,g,s,date,hour,w,e\n")
		for i := range rows {
			x, z := round3(rng.NormFloat64()), round3(2*rng.NormFloat64()+0.5)
			area, region, g, s := round3(math.Exp(rng.NormFloat64())), rng.IntN(levels), rng.IntN(12), rng.IntN(40)
			day, hour, weight, exposure := rng.IntN(700), rng.IntN(24), 1+rng.IntN(3), round3(0.2+rng.Float64())
			f := 0.3 + 0.5*x - 0.2*z + 0.3*float64(region) + 0.4*math.Sin(float64(g*g)) + 0.3*math.Cos(float64(hour)/24*2*math.Pi)
			noise := rng.NormFloat64()
			below := func(f float64) bool { return rng.Float64() < 1/(1+math.Exp(-f)) }
			count, limit := 0, exposure*math.Exp(f)
			for sum := rng.ExpFloat64(); sum < limit; sum += rng.ExpFloat64() {
				count++
			}
			wins := 0
			for range 8 {
				if below(f) {
					wins++
				}
			}
			grade := []string{"poor", "fair", "good"}[min(2, max(0, int(math.Floor(f+noise+1))))]
			kind := []string{"fire", "flood", "theft"}[(i+region)%3]
			if rng.Float64() < 0.6 {
				kind = []string{"fire", "flood", "theft"}[min(2, max(0, int(math.Floor(x+1.5))))]
			}
			level := []string{"north", "south", "west", "new, east"}[region]
			if strings.Contains(level, ",") {
				level = `"` + level + `"`
			}
			missing := fmt.Sprint(z)
			if rng.IntN(12) == 0 {
				missing = ""
			}
			price := f + 0.5*noise
			if i%40 == 7 {
				price += 6
			}
			fmt.Fprintf(&b, "%d,%g,%g,%v,%s,%s,%d,%g,%g,%s,%g,%s,g%d,%d,%s,%d,%d,%g\n", count, round3(math.Exp(f+0.6*noise)),
				round3(f+noise), below(f), kind, grade, wins, round3(price), x, missing, area, level, g, s,
				fmt.Sprintf("%d-%02d-%02d", 2021+day/350, 1+day%350/30, 1+day%28), hour, weight, exposure)
		}
		tables[name] = b.String()
	}
	claims("claims.csv", 240, 1, 3)
	claims("new.csv", 60, 2, 4)
	claims("april.csv", 330, 4, 3)

	rng := rand.New(rand.NewPCG(3, 1))
	var long, genes, sparse, words strings.Builder
	long.WriteString("y,hit,count,x,z,g,w\n")
	for range 9000 {
		x, z, g := round3(rng.NormFloat64()), round3(rng.NormFloat64()), rng.IntN(30)
		f := 0.2 + 0.5*x - 0.3*x*z + 0.2*math.Sin(float64(g))
		count := 0
		for sum := rng.ExpFloat64(); sum < math.Exp(f); sum += rng.ExpFloat64() {
			count++
		}
		fmt.Fprintf(&long, "%g,%v,%d,%g,%g,%d,%d\n", round3(f+rng.NormFloat64()), rng.Float64() < 1/(1+math.Exp(-f)), count, x, z, g, 1+rng.IntN(2))
	}
	tables["long.csv"] = long.String()

	genes.WriteString("y,hit")
	for j := range 40 {
		fmt.Fprintf(&genes, ",v%d", j)
	}
	for range 60 {
		v := make([]float64, 40)
		for j := range v {
			v[j] = round3(rng.NormFloat64())
		}
		v[7] = round3(0.8*v[6] + 0.6*v[7])
		f := 1.5*v[2] - v[6] + 0.7*v[11]
		fmt.Fprintf(&genes, "\n%g,%v", round3(f+0.7*rng.NormFloat64()), rng.Float64() < 1/(1+math.Exp(-2*f)))
		for _, value := range v {
			fmt.Fprintf(&genes, ",%g", value)
		}
	}
	tables["genes.csv"] = genes.String() + "\n"

	for i := range 600 {
		site, user, age := rng.IntN(9), rng.IntN(30), round3(rng.Float64())
		f := math.Sin(float64(3*site)) + math.Cos(float64(user)) - 1 + age
		y := -1
		if rng.Float64() < 1/(1+math.Exp(-f)) {
			y = 1
		}
		fmt.Fprintf(&words, "%d %d tag%d|a site%d user%d |n age:%g\n", y, 1+i%2, i, site, user, age)
		fmt.Fprintf(&sparse, "%d %d:1 %d:1 41:%g\n", y, 1+site, 11+user, age)
	}
	tables["clicks.vw"], tables["clicks.libsvm"] = words.String(), sparse.String()

	var visits, euro strings.Builder
	visits.WriteString("y,rent,x,t,district,school\n")
	euro.WriteString("y;rent;x;t;district;school\n")
	for i := range 120 {
		district, hour, x := rng.IntN(6), rng.IntN(24), fmt.Sprint(round3(rng.NormFloat64()))
		school := 4*district + rng.IntN(4)
		y := round3(math.Sin(float64(district)) + 0.5*math.Cos(float64(7*school)) + 0.6*math.Sin(float64(hour)/24*2*math.Pi) + 0.4*rng.NormFloat64())
		rent := 900 + rng.IntN(3000)
		if i%17 == 5 {
			x = "n/a"
		}
		rest := fmt.Sprintf("2024-%02d-%02d %02d:%02d:00,d%d,s%d\n", 1+rng.IntN(12), 1+rng.IntN(28), hour, rng.IntN(60), district, school)
		fmt.Fprintf(&visits, "%g,%d,%s,%s", y, rent, x, rest)
		fmt.Fprintf(&euro, "%s;%d.%03d,50;%s;%s", strings.ReplaceAll(fmt.Sprint(y), ".", ","), rent/1000, rent%1000,
			strings.ReplaceAll(x, ".", ","), strings.ReplaceAll(rest, ",", ";"))
	}
	tables["visits.csv"], tables["euro.csv"] = visits.String(), euro.String()

	var pairs strings.Builder
	pairs.WriteString("y,hit,x,a,b,c\n")
	for range 1500 {
		a, b, x := rng.IntN(300), rng.IntN(280), round3(rng.NormFloat64())
		f := 0.4*x + 0.7*math.Sin(float64(a*a)) + 0.5*math.Cos(float64(3*b)) + 0.4*math.Sin(float64(a%20))
		fmt.Fprintf(&pairs, "%g,%v,%g,a%d,b%d,c%d\n", round3(f+0.6*rng.NormFloat64()), rng.Float64() < 1/(1+math.Exp(-f)), x, a, b, a%20)
	}
	tables["pairs.csv"] = pairs.String()

	var waves, throng strings.Builder
	waves.WriteString("y,t\n")
	for range 600 {
		t := round3(rng.Float64())
		fmt.Fprintf(&waves, "%g,%g\n", round3(math.Sin(40*t*t)+0.02*rng.NormFloat64()), t)
	}
	throng.WriteString("y,a,b\n")
	for range 5500 {
		a, b := rng.IntN(2600), rng.IntN(2400)
		fmt.Fprintf(&throng, "%g,%d,%d\n", round3(0.7*math.Sin(float64(a*a))+0.6*math.Cos(float64(3*b))+0.5*rng.NormFloat64()), a, b)
	}
	tables["waves.csv"], tables["throng.csv"] = waves.String(), throng.String()

	tables["torn.csv"] = "y,x\n1,2\n2\n3,4\n"
	tables["wrong.csv"] = "y,x\n" + strings.Repeat("1,2\n2,3\n1,3\n", 4000) + "3,high\n"
	formatTables(tables)
	return tables
}

func round3(v float64) float64 { return math.Round(1000*v) / 1000 }
