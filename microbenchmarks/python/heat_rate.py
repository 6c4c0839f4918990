"""heat_rate.py SIDE UPDATES: the same as heat_rate.cpp, in NumPy. Prints the seconds of an update and the sum of all squares of heat."""

import sys
import time

import netuit

side, updates = (int(word) for word in sys.argv[1:])
mesh = netuit.Mesh(netuit.Torus(side, side))
heat = mesh.field(lambda ids: (ids == 0) * 1e6, published=True)


def update(part):
    part[heat] = 0.5 * part[heat] + 0.125 * part.sum_in(heat)


mesh.run(netuit.EveryUpdate(updates=2), update)
begin = time.perf_counter()
mesh.run(netuit.EveryUpdate(updates=updates), update)
seconds = time.perf_counter() - begin
values = mesh.gather(heat)
if mesh.rank == 0:
    print(f"{seconds / updates:.6g} {(values**2).sum():.6g}")
