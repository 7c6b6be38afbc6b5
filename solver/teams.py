# SPDX-License-Identifier: GPL-3.0-or-later
"""Teams of threads: each works on one island, and adds up and waits without leaving the kernel.

On a CUDA device a team is one block of WIDTH threads for every PER_BLOCK bodies of its island, MOST_BLOCKS at most; on
the CPU it is one thread.  Kernels launch over ``blocks`` times ``width``: each block takes its part, and on the CPU one
thread takes all in turn, which spares it loading a kernel's arguments for islands that are done.  A part loops over the
bodies, contacts and rows of its island in steps of the team.  ``sums`` adds in an order that the layout alone decides,
so a result has the same bits every time, and whoever returns from it sees what the others wrote before.

Blocks of a team wait for each other, which ends because a device starts blocks in the order of their numbers: those of
a team lie side by side, so at most one team is only partly there, and all before it come to their end.
"""

import numpy as np
import warp as wp

WIDTH = 256
PER_BLOCK = 128
MOST_BLOCKS = 64


@wp.struct
class TeamArrays:
    """The parts of all teams, in order of islands.  A part is a block of threads, or the one thread of the CPU."""

    island: wp.array(dtype=wp.int32)  # (parts,)
    first: wp.array(dtype=wp.int32)  # (parts,) first part of the same team
    size: wp.array(dtype=wp.int32)  # (parts,) how many it has
    sums: wp.array(dtype=wp.float64)  # (4 parts,) what each part adds, twice: the last sums may still be read
    arrived: wp.array(dtype=wp.int32)  # (parts,) at the first of each team: how often its parts have come to add


def parts_of(islands, bodies, near):
    """(island, first, size) of the parts of ``islands`` (K,) with so many ``bodies`` (K,).  near: on the CPU."""
    if near:
        return islands, np.arange(len(bodies), dtype=np.int32), np.ones(len(bodies), np.int32)
    blocks = np.clip(-(-bodies // PER_BLOCK), 1, MOST_BLOCKS).astype(np.int32)
    start = np.cumsum(blocks, dtype=np.int32) - blocks
    columns = islands, start, blocks
    return tuple(np.repeat(column, blocks) for column in columns)


def most_parts(islands, bodies):
    """How many parts so many islands and bodies come to at most."""
    return islands + bodies // PER_BLOCK


@wp.func_native("""
#if defined(__CUDA_ARCH__)
    __shared__ double of_warps[2][32];
    __shared__ int turn;
    const int warps = blockDim.x >> 5;
    double a = x[0], b = x[1];
    for (int apart = 16; apart > 0; apart >>= 1) {
        a += __shfl_xor_sync(0xffffffffu, a, apart);
        b += __shfl_xor_sync(0xffffffffu, b, apart);
    }
    __syncthreads();  // of_warps may still be read
    if ((threadIdx.x & 31) == 0) {
        of_warps[0][threadIdx.x >> 5] = a;
        of_warps[1][threadIdx.x >> 5] = b;
    }
    __syncthreads();
    a = b = 0.0;
    for (int w = 0; w < warps; ++w) {
        a += of_warps[0][w];
        b += of_warps[1][w];
    }
    if (size > 1) {
        volatile double* shared = sums.data;
        volatile int* here = arrived.data + first;
        if (threadIdx.x == 0) {
            turn = *here / size;  // nobody is further while this part has not come
            int place = 2 * (2 * part + (turn & 1));
            shared[place] = a;
            shared[place + 1] = b;
            __threadfence();
            atomicAdd(arrived.data + first, 1);
            while (*here < (turn + 1) * size) {}
            __threadfence();
        }
        __syncthreads();
        a = b = 0.0;
        for (int p = first; p < first + size; ++p) {
            int place = 2 * (2 * p + (turn & 1));
            a += shared[place];
            b += shared[place + 1];
        }
    }
    return wp::vec_t<2, wp::float64>(a, b);
#else
    return x;
#endif
""")
def _sums(
    x: wp.vec2d,
    sums: wp.array(dtype=wp.float64),
    arrived: wp.array(dtype=wp.int32),
    part: int,
    first: int,
    size: int,
) -> wp.vec2d: ...


@wp.func
def sums(x: wp.vec2d, teams: TeamArrays, part: int):
    """The sum of x over the threads of a team, the same bits in each; a wait for what all have written.

    All threads of the team must come here.
    """
    return _sums(x, teams.sums, teams.arrived, part, teams.first[part], teams.size[part])


@wp.func
def meet(teams: TeamArrays, part: int):
    """A wait for what all threads of a team have written.  All of them must come here."""
    sums(wp.vec2d(), teams, part)


@wp.func
def leads(teams: TeamArrays, part: int, thread: int):
    """Whether this is the one thread that writes what is the team's."""
    return thread == 0 and part == teams.first[part]


@wp.func
def begin(teams: TeamArrays, part: int, thread: int, width: int, start: int):
    """Where a thread begins in what its island has from ``start`` on."""
    return start + (part - teams.first[part]) * width + thread


@wp.func
def stride(teams: TeamArrays, part: int, width: int):
    """How far it is to the next one."""
    return teams.size[part] * width


@wp.func_native("""
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
""")
def wait():
    """Wait for the threads of the block: what they wrote before can be read.  All of them must come here."""
    ...


def width_on(device):
    """Threads of a part of a team."""
    return 1 if device.is_cpu else WIDTH
