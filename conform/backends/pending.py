"""A call that waits for its reply, and the memory that its worker has of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from conform.backends.call import Call
from conform.backends.channel import Channel
from conform.backends.lent import UNCHANGED, Changes, Lent
from conform.backends.protocol import MOST, Most
from conform.backends.reply import Reply
from conform.backends.written import as_written, with_updated
from conform.call.variants import Variant, variant_of


@dataclass
class Pending:
    """A call in flight, or several equal ones, kept to be sent again if the worker dies on one before it."""

    call: Call
    number: int
    frame: bytes
    payload: bytearray
    sizes: list[int]  # of the storages in the payload, in bytes
    times: int = 1
    most: Most = MOST
    lent: Lent | None = None  # what the worker has of it

    def send(self, channel: Channel) -> None:
        """Sends the call, with memory that no worker has had."""
        self.give_up()
        if self.sizes:
            self.lent = Lent(self.payload, self.sizes)
        channel.send(self.frame, [] if self.lent is None else [self.lent.fileno()])

    def changes(self) -> list[Changes]:
        """What each call did to its tensors, and to the memory outside them."""
        changes = self.lent.changes() if self.lent else UNCHANGED
        if changes is UNCHANGED:
            return [changes] * self.times
        return [changes.of_turn(turn, len(self.sizes) // self.times) for turn in range(self.times)]

    @property
    def variant(self) -> Variant | None:
        """How the call writes its results into arguments, if it does."""
        is_operator = self.call.module is None and self.call.program is None
        return variant_of(self.call.op) if is_operator else None

    def give_up(self) -> None:
        """Closes what was lent."""
        if self.lent is not None:
            self.lent.close()
            self.lent = None

    def with_changes(self, reply: Reply, changes: Changes, views_share_memory: bool) -> Reply:
        """The reply to one of the calls, with what that did to the memory that was lent for it. Where views need not
        `views_share_memory`, a result may always have memory of its own."""
        if changes is not UNCHANGED:
            reply = replace(reply, mutated=tuple(changes.contents), overrun=changes.overrun)
        if (variant := self.variant) is not None:
            reply = as_written(reply, self.call, variant, changes)
        if self.call.updates:
            reply = with_updated(reply, self.call, changes)
        if variant is not None:
            return reply
        may_be_apart = not (self.call.is_view and views_share_memory)
        return replace(reply, apart=()) if reply.apart and may_be_apart else reply
