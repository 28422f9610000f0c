"""How fast each step is, beside the same step in plain Python and beside what caps it.

    make bench                                          every stage; minutes
    python -m benchmarks --quick                        every stage with few games; a minute or two
    python -m benchmarks --stage san --games 100000     one stage
    python -m benchmarks.stages.one san 100000 5        the same stage alone in this process, for a profiler

A table on the screen, and benchmarks/results/latest.json; docs/benchmarks.md says how to read them.

    __main__ -> stages/one -> stages/*      each stage in a process of its own, pinned to one core where it is of one
    plan, corpora                           how much is measured, and on which games
    baselines                               the steps in plain Python
    window_loaders, peers, loading          loaders of others, and what needs a process of its own of the package's
    measure, memory, machine, residency     interleaved rounds, peaks, cores, files in memory
    report                                  results to table and JSON
"""
