"""Independent blocks of work on any ``concurrent.futures.Executor``, with the same results on all of them.

::

    with open_executor(workers=8) as executor:
        seeds = spawn_seeds(seed, len(parts))
        results = run_blocks(job, zip(parts, seeds), executor)
"""
