package relation

// Running are the relations of how a job is run: none of them changes a bit.
func Running() []Relation {
	from := func(name string, slow bool) Relation {
		return Relation{
			Name: "rows of a " + name, About: "rows read as " + name + " are those of a Go program, or of a file, to the bit", Bits: true, Slow: slow,
			Base: func(j Job) (Job, bool) { return j.As(""), true }, Change: func(j Job) (Job, bool) { return j.As(name), true },
		}
	}
	return []Relation{
		{
			Name: "threads", About: "one thread and three give the same bits", Bits: true,
			Base: func(j Job) (Job, bool) {
				j.Options.Threads = 1
				return j, true
			},
			Change: func(j Job) (Job, bool) {
				j.Options.Threads = 3
				return j, true
			},
		},
		{
			Name: "resume", About: "a job that is stopped at every checkpoint and gone on with gives the same bits", Bits: true, Refused: "checkpoint",
			Change: func(j Job) (Job, bool) {
				if j.Command == "stream" {
					j.Later = j.Rows.Rows() / 2
				} else {
					j.Interrupted = true
				}
				return j, true
			},
		},
		from(File, false), from(Pipe, true), from(Parquet, true),
	}
}

// As is the job with its rows from somewhere else.
func (j Job) As(from string) Job {
	j.From = from
	return j
}
