"""The nearest neighbours of sets by the cosine, with sparse_dot_topn: the best products of rows of length 1."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import scipy.sparse as sp
from sparse_dot_topn import sp_matmul_topn

sys.path.insert(0, str(Path(__file__).parents[1]))
from memory import peak_mb

task = json.loads(sys.argv[2])
with np.load(sys.argv[1]) as stored:
    starts, items = stored["starts"], stored["items"].astype(np.int32)
lengths = np.diff(starts)
weights = np.repeat(1.0 / np.sqrt(np.maximum(lengths, 1)), lengths).astype(task["dtype"])
shape = (len(lengths), int(items.max()) + 1)
rows = sp.csr_matrix((weights, items, starts.astype(np.int32)), shape=shape)

# One more than k: a record is its own nearest. The transposed copy is part of the task.
start, work = perf_counter(), process_time()
best = sp_matmul_topn(rows, rows.T.tocsr(), top_n=task["k"] + 1, n_threads=task["threads"], sort=True)
seconds, cpu_seconds = perf_counter() - start, process_time() - work
print(json.dumps({"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_mb": peak_mb(), "found": int(best.nnz)}))
