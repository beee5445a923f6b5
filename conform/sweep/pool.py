"""Several workers, each a process with a block at a time. What they share is nothing but the order of blocks."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from conform.backends.launcher import Template, describe_exit
from conform.errors import ConformError
from conform.sweep.space import Codes
from conform.sweep.tally import Tally
from conform.sweep.worker import Plan, worker

THE_PARENTS = (signal.SIGINT, signal.SIGHUP)  # whose business it is what becomes of the sweep


class WorkerLost(ConformError):
    """A process of the kit's own ended: it was killed, for the memory that it takes perhaps."""

    exit_code = 70


Known = Mapping[Codes, Mapping[str, Tally]]  # of blocks, by the digests of their answers


def tallies(
    plan: Plan, blocks: Sequence[Codes], workers: int, template: Template, known: Known
) -> Iterator[tuple[Codes, Tally]]:
    """Each block with its tally, as they are done. Raises what a worker raises, and WorkerLost. A worker that is alone
    works in this process, with a backend of `template`, others with one of its twin."""
    if min(workers, len(blocks)) <= 1:
        with worker(plan, template) as alone:
            for block in blocks:
                yield block, alone.tally(block, known.get(block))
        return
    crew = _Crew(plan, min(workers, len(blocks)), template)
    try:
        yield from crew.tallies(deque(blocks), known)
    finally:
        crew.end()


class _Crew:
    def __init__(self, plan: Plan, size: int, template: Template) -> None:
        self._processes: dict[Connection, BaseProcess] = {}
        context = multiprocessing.get_context("spawn")  # a fork would share the locks of whatever runs here
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, THE_PARENTS)
        try:
            for _ in range(size):
                ours, theirs = context.Pipe()
                twin = template.twin()
                process = context.Process(target=_serve, args=(plan, theirs, twin), daemon=True)
                process.start()
                theirs.close()
                twin.leave()
                self._processes[ours] = process
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def tallies(self, waiting: deque[Codes], known: Known) -> Iterator[tuple[Codes, Tally]]:
        at_work: dict[Connection, Codes] = {}

        def send_next(connection: Connection) -> None:
            block = at_work[connection] = waiting.popleft()
            with contextlib.suppress(ConnectionError):  # of a process that is gone `_answer` tells
                connection.send((block, known.get(block)))

        for connection in self._processes:
            send_next(connection)
        while at_work:
            for connection in wait(list(at_work)):
                block = at_work.pop(connection)
                found = self._answer(connection, block)
                if waiting:
                    send_next(connection)
                yield block, found

    def _answer(self, connection: Connection, block: Codes) -> Tally:
        try:
            found = connection.recv()
        except (EOFError, ConnectionError):
            process = self._processes[connection]
            process.join()
            ended = describe_exit(process.exitcode or 0)
            raise WorkerLost(f"a process of the kit ended on the inputs {block}: {ended}; --resume goes on") from None
        if isinstance(found, BaseException):
            raise found
        return found

    def end(self) -> None:
        """Ends them whatever they do; their backends end with them."""
        for connection, process in self._processes.items():
            connection.close()
            process.terminate()
        for process in self._processes.values():
            process.join()


def _serve(plan: Plan, connection: Connection, template: Template) -> None:
    """A worker's process: blocks come, tallies go, until the parent closes the connection or ends."""
    for number in THE_PARENTS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, THE_PARENTS)
    try:
        with worker(plan, template) as own:
            while True:
                connection.send(own.tally(*connection.recv()))
    except (EOFError, ConnectionError):
        return
    except Exception as error:
        connection.send(error)
