"""One thread for small networks.

Torch splits the work of a matrix product among as many threads as there are cores and makes them wait for each other.
For the small networks of this chapter a second thread costs more than it saves: on two cores it takes twice the
processor's time, and where another program keeps one of the cores busy every step waits for it, which has made a minute
of fitting into many. One thread also adds up in the same order everywhere, so equal arguments give equal weights on
machines of the same kind whatever their number of cores.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps

# Parameters up to which one thread is used; the published networks have ten million each
SMALL = 1_000_000


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch on one thread inside, on as many as before afterwards; also a decorator, ``@one_thread()``."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def threads_for(*networks):
    """``one_thread()`` where all networks are small, a context that changes nothing otherwise; None is no network."""
    sizes = [sum(p.numel() for p in network.parameters()) for network in networks if network is not None]
    return one_thread() if max(sizes, default=0) <= SMALL else nullcontext()


def small_on_one_thread(function):
    """A decorator for what is done with a network, its first argument: on one thread where it is small."""

    @wraps(function)
    def run(network, *args, **named):
        with threads_for(network):
            return function(network, *args, **named)

    return run
