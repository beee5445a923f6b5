"""The parent's end of a worker's socket and log: frames in both directions, never blocking on either."""

from __future__ import annotations

import select
import socket
from collections import deque
from collections.abc import Sequence

from conform.backends.log import Log
from conform.backends.protocol import MOST, PREFIX, Most, parse_prefix

_CHUNK_BYTES = 1 << 18
_SEND_BUFFER_BYTES = 1 << 20  # a few calls fit, so that the worker has work while the parent computes


class Closed(Exception):
    """The worker has closed its end; every frame it sent has been taken out before."""


class Channel:
    """Frames over a connected socket. Sending queues what the socket does not take; `wait` moves bytes both ways, and
    those that the worker prints to `log`."""

    def __init__(self, connection: socket.socket, log: Log) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        self._connection = connection
        self._log = log
        self._outgoing: deque[tuple[memoryview, Sequence[int]]] = deque()
        self._incoming = bytearray()
        self._closed = False

    def send(self, frame: bytes, descriptors: Sequence[int] = ()) -> None:
        """Sends a frame, and file descriptors with its first byte, as far as the socket takes it now.

        The rest goes with later calls of `send` and `wait`, until when the descriptors must stay open.
        """
        self._outgoing.append((memoryview(frame), descriptors))
        self._write()

    def next_frame(self, most: Most = MOST) -> tuple[bytes, bytes] | None:
        """Header, as it came, and payload of a frame that has arrived in full; ProtocolError if what came is none, or
        too large."""
        if len(self._incoming) < PREFIX.size:
            return None
        header_bytes, payload_bytes = parse_prefix(self._incoming, most)
        payload_start = PREFIX.size + header_bytes
        end = payload_start + payload_bytes
        if len(self._incoming) < end:
            return None
        header = bytes(memoryview(self._incoming)[PREFIX.size : payload_start])
        payload = bytes(memoryview(self._incoming)[payload_start:end])
        del self._incoming[:end]
        return header, payload

    def wait(self, timeout_s: float) -> bool:
        """Moves bytes both ways, waiting up to `timeout_s` for the first; whether any moved, or any were printed.

        Raises Closed where the worker has closed its end.
        """
        if self._closed:
            raise Closed
        poll = select.poll()
        poll.register(self._connection, select.POLLIN | (select.POLLOUT if self._outgoing else 0))
        if self._log.is_open:
            poll.register(self._log, select.POLLIN)
        if not poll.poll(max(0.0, timeout_s) * 1000):
            return False
        printed = self._log.take()
        wrote = self._write()
        return self._read() or wrote or printed

    def close(self) -> None:
        self._connection.close()

    def _write(self) -> bool:
        """Sends until the socket is full. A worker that has gone is noticed when reading, after its last frames."""
        wrote = False
        while self._outgoing:
            waiting, descriptors = self._outgoing[0]
            try:
                sent = self._send(waiting, descriptors)
            except BlockingIOError:
                break
            except ConnectionError:
                self._outgoing.clear()
                break
            wrote = True
            if sent < len(waiting):
                self._outgoing[0] = waiting[sent:], ()
            else:
                self._outgoing.popleft()
        return wrote

    def _send(self, waiting: memoryview, descriptors: Sequence[int]) -> int:
        if descriptors:
            return socket.send_fds(self._connection, [waiting], descriptors)
        return self._connection.send(waiting)

    def _read(self) -> bool:
        try:
            chunk = self._connection.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return False
        except ConnectionError:
            chunk = b""
        self._closed = not chunk
        self._incoming += chunk
        return True
