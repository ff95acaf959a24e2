"""A problem of placement as a model for CP-SAT: how many devices of each class go to each array, as members and as spares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from ortools.sat.python import cp_model

from raidplan.base.levels import LEVELS, copy_sets
from raidplan.placement.problem import Choice, Demand, Device, Picked, Problem

Sum = Any
"""A linear expression of the solver's, or 0."""


class Model:
    """The places of `raidplan.placement.objective.value`, from the first to the logical sectors; then the slowest rate."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.model = problem, cp_model.CpModel()
        self.classes: list[list[int]] = [[] for _ in range(max(problem.classes) + 1)]
        for device, of in enumerate(problem.classes):
            self.classes[of].append(device)
        self.kinds: list[Device] = [problem.devices[devices[0]] for devices in self.classes]
        disks = Counter(device.disk for device in problem.devices)
        self.several = {disk for disk, devices in disks.items() if devices > 1}
        """Disks with several devices; those of one class differ in nothing that counts, and so are all of one disk or none."""
        self.members = [self._counts(demand, demand.count) for demand in problem.demands]
        self.spares = [self._counts(demand, demand.spares) for demand in problem.demands]
        self.slots: dict[int, list[dict[int, Sum]]] = {}
        for of, devices in enumerate(self.classes):
            every = [held[of] for held in (*self.members, *self.spares) if of in held]
            self.model.add(sum(every) <= len(devices))
        for array, first in enumerate(problem.alike):
            if array and problem.alike[array - 1] == first:  # arrays that want the same, in one order
                one, other = (
                    sum(of * count for of, count in self.members[n].items()) for n in (array - 1, array)
                )
                self.model.add(one <= other)
        self.places: list[Sum] = [0] * 13
        for array in range(len(problem.demands)):
            for place, of_array in enumerate(self._places(array)):
                self.places[place] += of_array
        self.places.append(self._slowest())

    def solved(self, limit: float, start: Choice | None = None) -> tuple[Choice | None, bool]:
        """The best choice that is found, from one on or from nothing; whether no choice is better.

        The limit is in the solver's own measure of work, about a second each, which does not hang on the machine's load.
        Each place has an equal part of what is left; where its least is not proven, the least found holds.
        """
        left, choice, proven, solver = limit, start, True, cp_model.CpSolver()
        solver.parameters.num_workers = 1
        best = self._begun(start, solver) if start else []
        for number, place in enumerate(self.places):
            solver.parameters.max_deterministic_time = max(0.01, left / (len(self.places) - number))
            self.model.minimize(place)
            status = solver.solve(self.model)
            proven = proven and status == cp_model.OPTIMAL
            left -= solver.response_proto.deterministic_time
            found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
            if found and (not best or solver.value(place) < best[number]):
                choice, best = self._choice(solver), [solver.value(each) for each in self.places]
                self._hint(solver)
            if not best:
                return None, False
            self.model.add(place <= best[number])
        return choice, proven

    def _begun(self, start: Choice, solver: cp_model.CpSolver) -> list[int]:
        """Makes a choice the first hint, and returns its places; raises AssertionError where it breaks the model."""
        of = self.problem.classes
        for first in set(self.problem.alike):
            alike = [n for n, each in enumerate(self.problem.alike) if each == first]
            order = sorted(alike, key=lambda n: sum(of[device] for device in start[n].members))
            for array, theirs in zip(alike, order, strict=True):
                both = self.members[array], self.spares[array]
                for counts, devices in zip(both, start[theirs], strict=True):
                    taken = Counter(of[device] for device in devices)
                    for each, count in counts.items():
                        self.model.add_hint(count, taken[each])
        self.model.minimize(sum(self.places))  # of given members, no place is less where another one is more
        solver.parameters.fix_variables_to_their_hinted_value = True
        status = solver.solve(self.model)
        assert status in (cp_model.OPTIMAL, cp_model.FEASIBLE), solver.status_name(status)
        solver.parameters.fix_variables_to_their_hinted_value = False
        self._hint(solver)
        return [solver.value(each) for each in self.places]

    def _hint(self, solver: cp_model.CpSolver) -> None:
        """Makes the last solution the next hint."""
        self.model.clear_hints()
        for number in range(len(self.model.proto.variables)):
            variable = self.model.get_int_var_from_proto_index(number)
            self.model.add_hint(variable, solver.value(variable))

    def _bool(self) -> Any:
        return self.model.new_bool_var("")

    def _number(self, most: int) -> Any:
        return self.model.new_int_var(0, most, "")

    def _counts(self, demand: Demand, wanted: int) -> dict[int, Sum]:
        """How many devices of each class of the pool."""
        if not wanted:
            return {}
        pool = {*demand.pool}
        counts = {
            of: self._number(min(wanted, len(devices)))
            for of, devices in enumerate(self.classes)
            if devices[0] in pool
        }
        self.model.add(sum(counts.values()) == wanted)
        return counts

    def _places(self, array: int) -> tuple[Sum, ...]:
        members, spares = self.members[array], self.spares[array]
        every = {of: members[of] + spares.get(of, 0) for of in members}
        spread = self._spread(array, members)
        return (
            *(self._doubled(every), *spread, *self._meeting(array, members)),
            *(self._shared(members, spares, array), self._lost(array, members, every)),
            *(own := self._mixed(members)),
            sum(self._mixed(every)) - sum(own) if spares else 0,
        )

    def _mixed(self, counts: dict[int, Sum]) -> list[Sum]:
        """Sizes, media and logical sectors beyond one."""
        return [
            self._beyond_one(counts, [device.size for device in self.kinds]),
            self._beyond_one(counts, [device.rotational for device in self.kinds]),
            self._beyond_one(counts, [device.sector for device in self.kinds]),
        ]

    def _over(self, amount: Sum, most: int) -> Any:
        """Zero, or the amount where that is more."""
        over = self._number(most)
        self.model.add(over >= amount)
        return over

    def _doubled(self, every: dict[int, Sum]) -> Sum:
        of_disk: dict[str, list[int]] = {}
        for of in every:
            if self.kinds[of].disk in self.several:
                of_disk.setdefault(self.kinds[of].disk, []).append(of)
        return sum(self._over(sum(every[of] for of in some) - 1, 64) for some in of_disk.values())

    def _held(self, counts: dict[int, Sum], part: int) -> Sum:
        return sum(count for of, count in counts.items() if part in self.kinds[of].parts)

    def _spread(self, array: int, members: dict[int, Sum]) -> tuple[Sum, ...]:
        problem, demand = self.problem, self.problem.demands[array]
        dying, unfed, uneven = list[Any](), list[Any](), dict[str | None, Sum]()
        for number, part in enumerate(problem.parts):
            held = self._held(members, number)
            if isinstance(held, int):
                continue
            if demand.may_lose:
                over = self._bool()
                self.model.add(held <= demand.may_lose + demand.count * over)
                (unfed if part.supplies else dying).append(over)
            square = self._number(demand.count**2)
            for load in range(1, demand.count + 1):  # the tangents of the square between whole numbers
                self.model.add(square >= (2 * load - 1) * held - load * (load - 1))
            uneven[part.kind] = uneven.get(part.kind, 0) + square
        for kind in problem.kinds:
            alone = [
                count
                for of, count in members.items()
                if all(problem.parts[p].kind != kind for p in self.kinds[of].parts)
            ]
            uneven[kind] = uneven.get(kind, 0) + sum(alone)
        named = uneven.get(demand.kind, 0)
        return (
            sum(dying),
            sum(unfed),
            named,
            sum(sums for kind, sums in uneven.items() if kind != demand.kind),
        )

    def _meeting(self, array: int, members: dict[int, Sum]) -> tuple[Sum, Sum]:
        """Sets of copies on one component, and components that two copies share; what all members hang on is left out."""
        demand = self.problem.demands[array]
        if demand.copies == 1:
            return 0, 0
        rows = [{of: self._bool() for of in members} for _ in range(demand.count)]
        self.slots[array] = rows
        for row in rows:
            self.model.add_exactly_one(row.values())
        for of, count in members.items():
            self.model.add(sum(row[of] for row in rows) == count)
        dead, met = [], list[Any]()
        sets = copy_sets(demand.layout or "n2", demand.count)
        pairs = dict.fromkeys(pair for slots in sets for pair in combinations(slots, 2))
        signs = {
            of: {*self.kinds[of].parts, *self.several.intersection([self.kinds[of].disk])} for of in members
        }
        for place in sorted(set[Any]().union(*signs.values()), key=str):
            every = self._bool()
            on = [sum(row[of] for of in members if place in signs[of]) for row in rows]
            self.model.add(sum(on) >= demand.count * every)
            for one, other in pairs:
                pair = self._bool()
                self.model.add(on[one] + on[other] <= 1 + pair + every)
                met.append(pair)
            if place not in self.problem.sets:
                dead.append((on, every))
        lost = list[Any]()
        for slots in sets:
            gone = self._bool()
            for on, every in dead:
                self.model.add(sum(on[slot] for slot in slots) <= len(slots) - 1 + gone + every)
            lost.append(gone)
        return sum(lost), sum(met)

    def _shared(self, members: dict[int, Sum], spares: dict[int, Sum], array: int) -> Sum:
        demand, found = self.problem.demands[array], list[Any]()
        for part in range(len(self.problem.parts) if spares else 0):
            one, other = self._held(members, part), self._held(spares, part)
            if not isinstance(one, int) and not isinstance(other, int):
                product = self._number(demand.count * demand.spares)
                self.model.add_multiplication_equality(product, [one, other])
                found.append(product)
        return sum(found)

    def _lost(self, array: int, members: dict[int, Sum], every: dict[int, Sum]) -> Sum:
        demand = self.problem.demands[array]
        if LEVELS[demand.level].unequal:
            return -sum(self.kinds[of].size * count for of, count in members.items())
        sizes = sorted({self.kinds[of].size for of in every})
        least = {size: self._bool() for size in sizes}
        self.model.add_exactly_one(least.values())
        for size, chosen in least.items():
            for of, count in every.items():
                if self.kinds[of].size < size:
                    self.model.add(count == 0).only_enforce_if(chosen)
        return -sum(int(size * demand.data) * chosen for size, chosen in least.items())

    def _beyond_one(self, every: dict[int, Sum], kinds: Sequence[object]) -> Sum:
        """How many kinds there are among the devices beyond one; None is of every kind."""
        of_kind: dict[object, list[int]] = {}
        for of in every:
            if kinds[of] is not None:
                of_kind.setdefault(kinds[of], []).append(of)
        if len(of_kind) < 2:
            return 0
        there = []
        for classes in of_kind.values():
            present = self._bool()
            for of in classes:
                self.model.add(every[of] == 0).only_enforce_if(~present)
            there.append(present)
        return self._over(sum(there) - 1, len(there))

    def _slowest(self) -> Sum:
        """Minus the number of the slowest array's rate among all that there can be."""
        problem, rates = self.problem, set[float]()
        for array, demand in enumerate(problem.demands):
            rates |= {demand.pace(self.kinds[of]) for of in self.members[array]}
            rates |= {
                capacity * demand.passed / many
                for capacity in problem.capacity.values()
                for many in range(1, demand.count + 1)
            }
        chosen = {rate: self._bool() for rate in sorted(rates)}
        self.model.add_exactly_one(chosen.values())
        for rate, least in chosen.items():
            for array, demand in enumerate(problem.demands):
                self._no_slower(array, demand, rate, least)
        return -sum(number * least for number, least in enumerate(chosen.values()))

    def _no_slower(self, array: int, demand: Demand, rate: float, chosen: Any) -> None:
        for of, count in self.members[array].items():
            if demand.pace(self.kinds[of]) < rate:
                self.model.add(count == 0).only_enforce_if(chosen)
        for link, capacity in self.problem.capacity.items():
            held = [count for of, count in self.members[array].items() if link in self.kinds[of].links]
            most = max(
                (
                    many
                    for many in range(demand.count + 1)
                    if not many or capacity * demand.passed / many >= rate
                ),
                default=0,
            )
            if held and most < demand.count:
                self.model.add(sum(held) <= most).only_enforce_if(chosen)

    def _choice(self, solver: cp_model.CpSolver) -> Choice:
        left = [iter(devices) for devices in self.classes]
        found = []
        for array in range(len(self.problem.demands)):
            if array in self.slots:
                order = [
                    next(of for of, there in row.items() if solver.value(there)) for row in self.slots[array]
                ]
            else:
                order = [of for of, count in self.members[array].items() for _ in range(solver.value(count))]
            spare = [of for of, count in self.spares[array].items() for _ in range(solver.value(count))]
            found.append(Picked(tuple(next(left[of]) for of in order), tuple(next(left[of]) for of in spare)))
        return tuple(found)
