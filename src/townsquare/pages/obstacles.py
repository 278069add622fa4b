"""Sites that show nothing: one refuses, one wants a login, one a CAPTCHA, one never answers.

What they seem to hold is on an official site too: the way round is part of the task.
"""

from __future__ import annotations

from urllib.parse import quote

from townsquare.pages.markup import element, field, form, paragraph
from townsquare.pages.request import Request, Response, page, redirect
from townsquare.records.schema import TOWN

BLOCKED_NAME = "Dealfinder"
LOGIN_NAME = f"{TOWN} Gazette"
CAPTCHA_NAME = f"{TOWN} Tickets"
HANGING_NAME = f"{TOWN} Live Tides"


def respond_blocked(_: Request) -> Response:
    """Every page of the site is refused, as to a program."""
    body = paragraph("Access denied. Automated access to this site is not allowed.")
    return page(BLOCKED_NAME, "403 Forbidden", body, status=403)


def respond_login(request: Request) -> Response:
    """Every page leads to the login, and no login succeeds."""
    if request.path != "/login":
        return redirect(f"/login?next={quote(request.path)}")
    failed = request.posted
    body = [paragraph("This article is for subscribers. Please log in to read it.")]
    if failed:
        body.insert(0, element("p", "Unknown user name or wrong password.", role="alert"))
    entry = form(
        "/login",
        field("User name", "user"),
        field("Password", "password", kind="password"),
        button="Log in",
        name="Log in",
        method="post",
    )
    return page(LOGIN_NAME, "Log in", *body, entry, status=401 if failed else 200)


def respond_captcha(request: Request) -> Response:
    """Every page shows a CAPTCHA that no answer passes."""
    body = [paragraph("CAPTCHA: prove that you are not a robot before you continue.")]
    if request.posted:
        body.insert(0, element("p", "That was not right. Please try again.", role="alert"))
    entry = form(
        request.path,
        field("Type the letters of the picture", "letters"),
        button="Verify",
        name="Verification",
        method="post",
    )
    # The class by which programs recognise the real thing.
    puzzle = element("div", entry, class_="g-recaptcha")
    return page(CAPTCHA_NAME, "Are you human?", *body, puzzle)


def respond_never(_: Request) -> Response:
    """The site accepts the connection and never responds."""
    return Response(hangs=True)
