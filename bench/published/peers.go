package published

// PeersSource says where the figures of Peers come from.
const PeersSource = "Peers: revrand (StandardLinearModel slm and GeneralizedLinearModel glm, 100 bases) and scikit-learn (GaussianProcessRegressor with one lengthscale an input, BayesianRidge, RBFSampler of 1,000 components), run by us once on the same rows and standardised inputs, on another machine: their seconds are quoted for orientation alone. Settings were not tuned on the test rows."

// Peer is a run of another program.
type Peer struct {
	Name       string
	Rows       int // of training
	CPUSeconds float64
	SMSE, NLPD float64
	MSLL       float64
}

// Peers returns the runs of other programs on the first split of a set; nil for
// sets that were not run.
func Peers(set string) []Peer {
	return map[string][]Peer{
		"boston": {
			{"revrand slm rbf100 ard", 455, 1.336, 0.12728, 2.45826, -1.05240},
			{"revrand slm rbf100 iso, random starts", 455, 0.450, 0.13740, 2.49251, -1.01815},
			{"revrand glm", 455, 8.227, 0.31039, 2.93429, -0.57636},
			{"scikit-learn exact GP", 455, 2.496, 0.10298, 2.20532, -1.30533},
			{"scikit-learn BayesianRidge", 455, 0.139, 0.47076, 3.09127, -0.41938},
		},
		"concrete": {
			{"revrand slm rbf100 ard", 927, 0.782, 0.11759, 3.21804, -1.06885},
			{"revrand slm rbf100 iso, random starts", 927, 0.935, 1.45264, 4.51984, 0.23296},
			{"revrand glm", 927, 8.061, 0.30285, 3.68430, -0.60258},
			{"scikit-learn exact GP", 927, 4.612, 0.08541, 3.01408, -1.27280},
			{"scikit-learn BayesianRidge", 927, 0.163, 0.39743, 3.82320, -0.46368},
		},
		"power": {
			{"revrand slm rbf100 iso", 8611, 0.335, 0.06472, 2.92705, -1.32650},
			{"revrand slm rbf100 iso, random starts", 8611, 4.635, 0.04785, 2.73898, -1.51457},
			{"scikit-learn exact GP, 1,000 rows", 1000, 5.335, 0.05326, 2.79128, -1.46218},
			{"scikit-learn BayesianRidge", 8611, 0.155, 0.06514, 2.89061, -1.36293},
			{"scikit-learn BayesianRidge, rff1000", 8611, 1.814, 0.04915, 3.62371, -0.62983},
		},
		"kin8nm": {
			{"revrand slm rbf100 iso", 7373, 8.309, 0.33043, -0.44143, -0.54687},
			{"revrand slm rbf100 iso, random starts", 7373, 5.883, 0.27347, -0.53344, -0.63888},
			{"scikit-learn exact GP, 1,000 rows", 1000, 6.291, 0.11401, -0.99989, -1.10495},
			{"scikit-learn BayesianRidge", 7373, 0.206, 0.53705, -0.20525, -0.31068},
			{"scikit-learn BayesianRidge, rff1000", 7373, 1.834, 0.11283, -0.32379, -0.42923},
		},
		"sarcos_test": {
			{"revrand slm rbf100 ard", 3560, 18.337, 0.03482, 2.71321, -1.68935},
			{"revrand slm rbf100 iso, random starts", 3560, 2.431, 0.04590, 2.84617, -1.55639},
			{"revrand slm rbf100 ard, random starts", 3560, 7.604, 1.06820, 4.51488, 0.11231},
			{"revrand glm", 3560, 9.310, 0.29789, 3.81114, -0.59143},
			{"scikit-learn exact GP, 1,000 rows", 1000, 19.191, 0.04081, 2.70862, -1.69811},
			{"scikit-learn BayesianRidge", 3560, 0.165, 0.07622, 3.11407, -1.28850},
		},
	}[set]
}

// PeerSets lists the sets that have Peers.
func PeerSets() []string { return []string{"boston", "concrete", "power", "kin8nm", "sarcos_test"} }

// Revrand's own task: boston in five shuffled folds, by its notebook.
const (
	RevrandSource = "revrand's notebook demos/boston_housing.ipynb: KFold(n_splits=5, shuffle=True, random_state=100), 400 random bases with one lengthscale an input, and linear ones; R² 0.9018, MSLL −1.1504."
	RevrandFolds  = 5
	RevrandSeed   = 100
	RevrandR2     = 0.9018
	RevrandMSLL   = -1.1504
)
