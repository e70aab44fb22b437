"""Hardening: change a policy until no attack on its release adds more than a stated risk, at the least loss.

1. The policy as it is is attacked in full. If nothing adds more than the risk, that is all.
2. On one split of the records (a release from most of them, the others for attacks to be compared on) candidates are
   attacked with fewer attempts. On each way of publishing the policy is made harder, as the attacks that succeed ask
   for, until all of them seem to fail; then milder again, as long as they do and less is lost.
3. Of what held there, the candidate of least loss is attacked in full: a new release from another random split, and
   other targets. An attack that finds few things to attempt, such as descriptions in a table of few groups, is repeated
   on releases from further splits, and all are counted together: larger groups would leave it fewer yet. If an attack
   succeeds after all, the policy is made harder, and the next of least loss has its turn.

What an upper bound means: it is the upper end of a two-sided 95 % interval of one attack on one release. As the release
of step 3 is made and attacked anew, on a split that no candidate was chosen by, the choice among many does not bias it.
It is not corrected for the number of attacks, nor for that of candidates that were attacked in full; both are told.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.attack.attack import run_attacks
from shoal.data.sniff import one_look
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError, ShoalError
from shoal.harden import MOST_STEPS, RISK
from shoal.harden.folder import HardenFolder, step_key
from shoal.harden.result import Hardened
from shoal.harden.step import Candidate, Judged, Status, Step, expected_bound, pooled
from shoal.held_out import hold_out as split_off
from shoal.kernels.compile import interpreted
from shoal.kind import Kind, fitting_policy
from shoal.progress import Progress

if TYPE_CHECKING:
    from shoal.attack.attack import Attack
    from shoal.attack.result import AttackResult
    from shoal.harden.ladder import Ladder

QUICK = 1000  # attempts of an attack while candidates are compared
FEWEST, MOST = 2000, 20_000  # attempts of an attack in full
LEAST_SHARE, MOST_SHARE = 0.1, 1 / 3  # of the records, held out
MOST_IN_FULL = 8
Place = tuple[int, str]
"""Of an attack: which of the cases it is on, and its name."""
MOST_AGAIN = 4  # more releases for an attack in full that finds little to attempt
_STATUS: dict[type[ShoalError], Status] = {
    Infeasible: "infeasible",
    PolicyError: "refused",
    DataError: "refused",
    NotVerified: "fails",
}


@one_look()
@interpreted(False)  # many releases
def harden(
    source: Any,
    policy: Any = None,
    *,
    risk: float = RISK,
    hold_out: float | None = None,
    seed: int = 0,
    steps: int = MOST_STEPS,
    seconds: float | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> Hardened:
    """Change a policy until no attack adds more than a stated risk, and return the one that loses least.

    Releases are made in memory and let go: nothing is published. What may change is told by `shoal.kinds`: of tables
    roles, k, requirements, methods and publications; of strings and sparse records the parameters of their method.
    No guarantee of the policy is given up.

    Parameters
    ----------
    source : path, or frame of pandas, polars or arrow, or dict of columns; list of str or of lists of str, Strings, \
Sparse or sparse matrix of scipy
        The original records.
    policy : Policy, StringPolicy or SparsePolicy, optional
        Where to begin; by default guessed roles and the usual groups.
    risk : float, default 0.09
        The most that an attack may add at the upper end of its 95 % interval; see `shoal.attack.result.AddedRisk`.
    hold_out : float, optional
        The share of the records that attacks are compared on; by default as many as the risk needs, from a tenth to a
        third.
    seed : int, default 0
        Which records are held out and attacked. Nothing that is published is drawn with it.
    steps : int, default 80
        Policies to try at most before those that seem to hold are attacked in full.
    seconds : float, optional
        Begin no new policy after so many seconds; then the result depends on the machine, and says so.
    folder : path, optional
        Where finished steps are kept, for the owner alone; the same call goes on from there.
    progress : callable, optional
        Called with (what is being done, steps done, most steps).

    Returns
    -------
    Hardened
        With the policy, or, where none was found, the one that came nearest.

    Raises
    ------
    PolicyError, DataError
        What was asked for is not understood, or does not fit the data.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20 + i % 7 for i in range(400)], "plan": ["ab"[i // 7 % 2] for i in range(400)]}
    >>> found = shoal.harden(people, shoal.Policy.of(quasi=["age", "plan"], k=5), risk=0.2)
    >>> found.reached, found.policy.k
    (True, 5)
    """
    if not 0 < risk < 1:
        raise PolicyError(f"the risk is {risk:g}; give a share between 0 and 1, such as {RISK:g}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise PolicyError("the seed is not a whole number from 0 on; give one, or leave it out")
    if steps < 1 or (seconds is not None and not seconds >= 0):
        raise PolicyError("steps is 1 or more, and seconds 0 or more; give such numbers, or leave them out")
    kind, policy = fitting_policy(source, policy)
    home = None if folder is None else HardenFolder(Path(folder))
    if progress is not None:
        progress("reading", 0, 0)
    data = kind.load(source, policy)
    size = attempts_for(risk)
    share = min(MOST_SHARE, max(LEAST_SHARE, size / max(1, len(data)))) if hold_out is None else hold_out
    ladder = kind.ladder(data, policy)
    if home is not None:
        home.open()
    search = Hardening(kind, ladder, data, risk, share, size, seed, steps, seconds, home, progress)
    try:
        found = search.run()
    except ShoalError:
        if home is not None:
            home.abandon()
        raise
    if home is not None:
        home.write_file("harden.json", found.to_json())
    return found


def attempts_for(risk: float) -> int:
    """Attempts by which an attack that gets as much from members as from others stays below a risk.

    Of rates p on both sides, the half-width of what is added is ``1.96 sqrt(2 p / (n (1 - p)))``; n is chosen so that
    for p = 1/3 it is half of the risk, which leaves the other half to chance and to what is really added.

    >>> attempts_for(0.09), attempts_for(0.05)
    (2000, 6147)
    """
    return min(MOST, max(FEWEST, math.ceil((2 * 1.96 / risk) ** 2)))


class Hardening:
    """One hardening: what was tried, and what is left to try."""

    def __init__(
        self,
        kind: Kind,
        ladder: Ladder,
        data: Any,
        risk: float,
        share: float,
        size: int,
        seed: int,
        most_steps: int,
        seconds: float | None,
        home: HardenFolder | None,
        progress: Progress | None,
    ) -> None:
        self.kind, self.ladder, self.data = kind, ladder, data
        self.risk, self.share, self.size, self.seed = risk, share, size, seed
        self.most_steps, self.home, self.progress = most_steps, home, progress
        self.end = None if seconds is None else time.monotonic() + seconds
        self.checksum = ladder.checksum()
        self.tried: dict[str, tuple[Candidate, Step]] = {}
        self.n_reused = 0
        self.stopped = ""
        self._splits: dict[int, Any] = {}
        self._refuted: set[str] = set()
        self._given: tuple[Judged, ...] = ()

    def run(self) -> Hardened:
        """Look for a policy."""
        given = self.attempt(self.ladder.start, split=1)
        if given.status in ("refused", "fails"):
            raise (PolicyError if given.status == "refused" else NotVerified)(given.sentence)
        if given.stays_below(self.risk):
            return self._result(given, self.ladder.start, given)
        self._given = given.judged
        self._explore(given)
        return self._confirm(given)

    def _explore(self, given: Step) -> None:
        """Step 2: on each way harder, then milder."""
        starts: list[tuple[Candidate, Step | None]] = [(self.ladder.start, given)]
        starts += [(way, None) for way in self.ladder.ways()]
        for candidate, step in starts:
            best = min((s.cost for _, s in self._holding()), default=math.inf)
            found = self._climb(candidate, step, best)
            if found is not None:
                self._descend(*found)

    def _climb(self, candidate: Candidate, step: Step | None, bound: float) -> tuple[Candidate, Step] | None:
        """Make a candidate harder until all attacks seem to fail; None where that cannot be, or costs too much."""
        seen: set[str] = set()
        while True:
            if step is None:
                if self._is_over():
                    return None
                step = self.attempt(candidate, bound=bound)
            if not step.is_full and step.stays_below(self.risk):
                return candidate, step
            if step.status != "attacked":
                return None
            seen.add(self._name(candidate))
            for harder in self.ladder.harder(candidate, step, step.failing(self.risk), self.risk):
                if self._is_over():
                    return None
                if self._name(harder) in seen:
                    continue
                next_step = self.attempt(harder, bound=bound)
                if next_step.status == "attacked":
                    candidate, step = harder, next_step
                    break
            else:
                return None

    def _descend(self, candidate: Candidate, step: Step) -> None:
        """Make a candidate milder as long as all attacks seem to fail and less is lost."""
        is_better = True
        while is_better:
            is_better = False
            for milder in self.ladder.milder(candidate, step):
                if self._is_over():
                    return
                if self._name(milder) in self._refuted:
                    continue
                tried = self.attempt(milder, bound=step.cost, whole=False)
                if tried.stays_below(self.risk) and tried.cost < step.cost:
                    candidate, step, is_better = milder, tried, True
                    break

    def _confirm(self, given: Step) -> Hardened:
        """Step 3: the candidates of least loss in full, each on a split of its own."""
        for split in range(2, 2 + MOST_IN_FULL):
            waiting = self._holding()
            if not waiting:
                break
            candidate = min(waiting, key=lambda w: w[1].cost)[0]
            step = self.attempt(candidate, split=split)
            if step.stays_below(self.risk):
                return self._result(given, candidate, step)
            self._refuted.add(self._name(candidate))
            if step.status == "attacked":
                bound = min((s.cost for _, s in self._holding()), default=math.inf)
                found = self._climb(candidate, step, bound)
                if found is not None:
                    self._descend(*found)
        attacked = [(c, s) for c, s in self.tried.values() if s.status == "attacked" and s.is_whole]
        nearest = min(attacked, key=lambda t: (t[1].bound, t[1].cost), default=None)
        if nearest is None:
            raise Infeasible(given.sentence)
        return self._result(given, *nearest)

    def _holding(self) -> list[tuple[Candidate, Step]]:
        """What seems to hold, and was not found to fail in full."""
        found = [(c, s) for c, s in self.tried.values() if not s.is_full and s.stays_below(self.risk)]
        return [(c, s) for c, s in found if self._name(c) not in self._refuted]

    def _is_over(self) -> bool:
        if self.end is not None and time.monotonic() >= self.end:
            self.stopped = "The time was over, so that another run may end elsewhere."
        elif len(self.tried) >= self.most_steps:
            self.stopped = f"{self.most_steps} policies were tried, and no more were to be."
        return bool(self.stopped)

    def _name(self, candidate: Candidate) -> str:
        return step_key(self.checksum, candidate.policy, [])

    def _result(self, given: Step, candidate: Candidate, step: Step) -> Hardened:
        return Hardened(
            risk=self.risk,
            given=given,
            candidate=candidate,
            chosen=step,
            steps=tuple(s for _, s in self.tried.values()),
            measure=self.ladder.measure,
            n_records=len(self.data),
            n_held_out=round(self.share * len(self.data)),
            size=self.size,
            advice="" if step.stays_below(self.risk) else self.ladder.advice(step.failing(self.risk)),
            stopped=self.stopped,
            n_reused=self.n_reused,
            notes=self.ladder.notes,
        )

    def attempt(self, candidate: Candidate, *, split: int = 0, bound: float = math.inf, whole: bool = True) -> Step:
        """Make a release and attack it: on split 0 quickly, unless it costs as much as the bound, on others in full.

        Unless all of it is asked for (`whole`), attacks end with the first that succeeds.
        """
        key = step_key(self.checksum, candidate.policy, [self.seed, self.share, split, self.size if split else QUICK])
        if key in self.tried and not _is_to_be_attacked(self.tried[key][1], bound, whole):
            return self.tried[key][1]
        step = None if self.home is None else self.home.find(key)
        if step is not None and not _is_to_be_attacked(step, bound, whole):
            self.n_reused += 1
            if step.status == "attacked" and not step.is_full and step.cost >= bound:
                step = _let_go(step.asked, step.cost)  # as the run did that attacked it later
            elif not whole:
                step = step.until_one_fails(self.risk)  # likewise
        else:
            step = self._attempt(candidate, split, bound, whole)
            if self.home is not None and step.status in ("attacked", "costs more", "infeasible"):
                self.home.keep(key, step)
        self.tried[key] = candidate, step
        return step

    def _attempt(self, candidate: Candidate, split: int, bound: float, whole: bool) -> Step:
        asked = self.ladder.asked(candidate.policy)
        own = self._seed_of(split)
        if split not in self._splits:
            self._splits = {n: s for n, s in self._splits.items() if n == 0}  # of others each is used once
            self._splits[split] = split_off(self.data, self.share, own)
        kept, held_out = self._splits[split]
        self._tell("making a release")
        try:
            release = self.ladder.release(kept, candidate.policy, own, held_out)
            loss = self.ladder.loss(release)
        except (Infeasible, PolicyError, DataError, NotVerified) as error:
            return Step(asked, _STATUS[type(error)], str(error), is_full=split > 0)
        if loss >= bound:
            return _let_go(asked, loss)
        size = self.size if split else QUICK
        ratios = [min(self.size, n) / min(size, n) for n in (len(kept), len(held_out.records))]
        judged: dict[Place, Judged] = {}
        skipped: dict[str, str] = {}
        for place, result, is_sized in self._attacked(release, self.kind.attacks, size, own, skipped):
            more = ratios if is_sized else (1.0, 1.0)
            judged[place] = Judged(result, expected_bound(result, more[0], more[1]))
            if not whole and judged[place].fails_to_stay_below(self.risk):
                return Step(asked, "attacked", loss=loss, judged=tuple(judged.values()), is_whole=False)
        if split:
            judged = self._repeated(candidate, split, judged, min(size, len(kept)))
        told = [*judged.values(), *(Judged(result, 1.0) for result in self.ladder.findings(release))]
        return Step(
            asked,
            "attacked",
            is_full=split > 0,
            loss=loss,
            judged=tuple(told),
            skipped=tuple((name, why) for name, why in skipped.items()),
            measured=self.ladder.measured(release),
        )

    def _attacked(
        self, release: Any, attacks: Sequence[Attack[Any]], size: int, seed: int, skipped: dict[str, str]
    ) -> Iterator[tuple[Place, AttackResult, bool]]:
        """What each attack of a size gets, by case and name, and whether its size can be chosen.

        Those come first that got most from the policy as it was given. Why others are not run goes to `skipped`.
        """
        for i, (case, own) in enumerate(self.ladder.cases(release, attacks)):
            sized = [a.of_size(size) for a in own]
            for attack, as_given in sorted(zip(sized, own, strict=True), key=lambda pair: self._rank(pair[0].name)):
                if not attack.fits(case):
                    continue
                found = run_attacks(sized, case, [attack.name], seed=seed, progress=lambda what, *_: self._tell(what))
                skipped.update(found.skipped)
                yield from (((i, r.attack), r, attack is not as_given) for r in found.results)

    def _rank(self, name: str) -> float:
        return -max((j.bound for j in self._given if j.result.attack == name), default=0.0)

    def _repeated(
        self, candidate: Candidate, split: int, judged: dict[Place, Judged], most: int
    ) -> dict[Place, Judged]:
        """The same, with attacks that found little to attempt counted over releases from further splits too."""
        short = [p for p, j in judged.items() if j.is_short_of(most, self.risk, 1 + MOST_AGAIN)]
        results = {place: [judged[place].result] for place in short}
        names = {name for _, name in short}
        attacks = [a for a in self.kind.attacks if a.name in names]
        for again in range(1, 1 + MOST_AGAIN if short else 0):
            own = self._seed_of(split, again)
            kept, held_out = split_off(self.data, self.share, own)
            try:
                release = self.ladder.release(kept, candidate.policy, own, held_out)
            except (Infeasible, PolicyError, DataError, NotVerified):  # of this split, which is left out
                continue
            for place, result, _ in self._attacked(release, attacks, self.size, own, {}):
                if place in results:
                    results[place].append(result)
        together = {place: pooled(some) for place, some in results.items()}
        return judged | {p: Judged(r, expected_bound(r, 1.0, 1.0)) for p, r in together.items()}

    def _seed_of(self, *split: int) -> int:
        return int(np.random.SeedSequence([self.seed, *split]).generate_state(1)[0])

    def _tell(self, what: str) -> None:
        if self.progress is not None:
            self.progress(f"policy {len(self.tried) + 1}: {what}", len(self.tried), self.most_steps)


def _let_go(asked: dict[str, Any], loss: float) -> Step:
    return Step(asked, "costs more", "one that seems to hold costs less", loss=loss)


def _is_to_be_attacked(step: Step, bound: float, whole: bool) -> bool:
    """Whether a step was let go for its cost, and would not be now, or for its first attack, and all are asked for."""
    return (step.status == "costs more" and step.cost < bound) or (whole and not step.is_whole)
