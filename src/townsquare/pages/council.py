"""The town council, and that of a town with nearly the same name."""

from __future__ import annotations

from townsquare.pages.markup import element, link, listing, paragraph, table
from townsquare.pages.request import Request, Response, not_found, page
from townsquare.records.schema import Committee, Council, long_date


def respond(council: Council, town: str, request: Request) -> Response:
    name = council_name(town)
    match request.path:
        case "/":
            links = (link("/committees", "Committees"), link("/minutes", "Minutes of meetings"))
            return page(name, f"{town} Council", listing(links))
        case "/committees":
            links_to = (
                link(f"/committee/{committee.slug}", f"{committee.name} Committee")
                for committee in council.committees
            )
            return page(name, "Committees", listing(links_to))
        case "/minutes":
            return page(name, "Minutes of meetings", *_meetings(council))
    return _page(council, name, request.path)


def council_name(town: str) -> str:
    return f"{town} Town Council"


def _meetings(council: Council) -> list[object]:
    body: list[object] = []
    for meeting in council.meetings:
        titles = "; ".join(motion.title for motion in meeting.motions)
        body.append(
            element(
                "section",
                element("h2", link(f"/minutes/{meeting.day}", long_date(meeting.day))),
                paragraph(f"Motions: {titles}."),
            )
        )
    return body


def _page(council: Council, name: str, path: str) -> Response:
    for committee in council.committees:
        if path == f"/committee/{committee.slug}":
            title = f"{committee.name} Committee"
            rows = [(member, _role(committee, member)) for member in committee.members]
            return page(name, title, table(title, ("Member", "Role"), rows))
    for meeting in council.meetings:
        if path == f"/minutes/{meeting.day}":
            votes = [
                (motion.title, motion.votes_for, motion.votes_against, motion.abstained)
                for motion in meeting.motions
            ]
            title = f"Minutes of {long_date(meeting.day)}"
            headers = ("Motion", "For", "Against", "Abstained")
            return page(name, title, table(title, headers, votes))
    return not_found(name)


def _role(committee: Committee, member: str) -> str:
    if member == committee.chair:
        return "Chair"
    return "Deputy chair" if member == committee.deputy else "Member"
