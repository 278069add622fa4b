"""Compare small pictures of a window before and after each step."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from operator import attrgetter

from assay.browser.observe.digest import info_digest
from assay.browser.observe.inputs import SeenInput
from assay.browser.observe.isolated import ActionFailed, DocumentLost
from assay.browser.observe.observer import PageObserver
from assay.browser.observe.picture import Box, WindowPicture, changed_tiles, tiles_of
from assay.browser.observe.snapshot import PageSnapshot
from assay.browser.observe.transport import Transport
from assay.schema.evidence import PageEvidence


def missing_answers(transport: Transport) -> tuple[type[Exception], ...]:
    """The errors of a page that does not answer; they mean missing evidence."""
    return (*transport.errors, TimeoutError, ActionFailed)


def _are_alike(a: PageEvidence | None, b: PageEvidence | None) -> bool:
    texts = attrgetter("url", "dom", "text", "refs")
    return a is not None and b is not None and texts(a) == texts(b)


class StepPictures:
    """Takes pictures of a tab and keeps the latest, unless `in_use` is false."""

    def __init__(
        self, observer: PageObserver, transport: Transport, *, in_use: bool, alone: bool
    ) -> None:
        self.in_use = in_use
        self.tiles: str | None = None
        self.comparable = False
        """Whether the latest tiles belong to the digests of the page."""
        self._observer = observer
        self._transport = transport
        self._alone = alone
        self._latest: WindowPicture | None = None
        self._boxes: tuple[Box, ...] = ()

    @property
    def digest(self) -> str | None:
        return None if self.tiles is None else info_digest(f"picture {self.tiles}")

    def tell_more(self, snapshot: PageSnapshot) -> bool:
        """Whether a picture may show more than the text of the page."""
        return self.in_use and (snapshot.pictures or not self._alone)

    async def take(self, snapshot: PageSnapshot) -> None:
        """Take a picture, with which the next picture is compared."""
        self._latest = await self._observer.picture(snapshot)
        self.tiles = tiles_of(self._latest)

    async def compare(
        self,
        snapshot: PageSnapshot,
        earlier: PageSnapshot | None,
        target: SeenInput | None,
        pages: tuple[PageEvidence | None, PageEvidence | None],
    ) -> bool:
        """Whether the picture changed although the two `pages` are equal."""
        alike = _are_alike(*pages)
        before, old = self._latest, self.tiles
        self.comparable = False
        if not self.tell_more(snapshot) and not (alike and before is not None):
            self._latest = self.tiles = None
            return False
        after = self._latest = await self._observer.picture(snapshot)
        drawn = target is not None and target.drawn
        masks = self._masks(snapshot, earlier, target)
        if after is None or before is None or old is None or before.place != after.place:
            self.tiles = tiles_of(after)
            self.comparable = before is None
            return False
        if before.data == after.data or (alike and snapshot.popups and not drawn):
            self.tiles = old
        elif not alike:
            self.tiles = tiles_of(after)
        else:
            inside = (target.box,) if target is not None and drawn and target.box else ()
            compare = partial(
                changed_tiles, old, before, after, masks=masks, regions=(*snapshot.drawn, *inside)
            )
            self.tiles = compare(moving=None)
            if self.tiles not in (None, old):
                with suppress(*missing_answers(self._transport), DocumentLost):
                    await self._transport.sleep(self._observer.patience.picture_s)
                self.tiles = compare(moving=await self._observer.picture(snapshot))
        self.comparable = True
        return alike and self.tiles is not None and self.tiles != old

    def _masks(
        self, snapshot: PageSnapshot, earlier: PageSnapshot | None, target: SeenInput | None
    ) -> tuple[Box, ...]:
        """The places where a change does not count, such as the pointer and the caret."""
        boxes = () if target is None or target.drawn or target.box is None else (target.box,)
        moves = () if earlier is None else earlier.restless
        focus = () if snapshot.focus is None else (snapshot.focus,)
        masks = (*boxes, *self._boxes, *focus, *snapshot.restless, *moves)
        self._boxes = boxes
        return masks
