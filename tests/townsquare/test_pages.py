from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.townsquare.reader import Page
from townsquare.pages.request import DOMAIN, Request, Response
from townsquare.pages.web import Web
from townsquare.records.draw import draw_records

WALLS = {"tides", "gazette", "dealfinder", "tickets"}
PORT = 8000


@pytest.fixture(scope="module")
def web() -> Web:
    return Web(draw_records(7))


def visit(web: Web, url: str) -> Response:
    parts = urlsplit(url)
    assert parts.hostname
    site = parts.hostname.removesuffix(DOMAIN).rstrip(".")
    return web.respond(Request(site, parts.path or "/", dict(parse_qsl(parts.query)), port=PORT))


def crawl(web: Web) -> Iterator[tuple[str, Response]]:
    """Every page that links lead to, from the portal and from some searches on."""
    queue = [f"http://{DOMAIN}:{PORT}/"]
    queue += [f"http://{site}.{DOMAIN}:{PORT}/" for site in web.sites if site]
    queue += [f"http://search.{DOMAIN}:{PORT}/?q={word}" for word in ("club", "council", "price")]
    seen = set(queue)
    while queue:
        url = queue.pop()
        response = visit(web, url)
        yield url, response
        if response.content_type.startswith("text/html"):
            base = "http://" + urlsplit(url).netloc
            for link in Page(response.status, response.body.decode()).links:
                target = link.href if "//" in link.href else base + link.href
                if target not in seen:
                    seen.add(target)
                    queue.append(target)


def test_every_link_leads_somewhere_and_every_page_is_sound(web: Web) -> None:
    pages = dict(crawl(web))
    assert len(pages) > 400
    for url, response in pages.items():
        site = (urlsplit(url).hostname or "").removesuffix(DOMAIN).rstrip(".")
        if site not in WALLS:
            assert response.status == 200, url
        if not response.content_type.startswith("text/html") or not response.body:
            continue
        page = Page(response.status, response.body.decode())
        assert page.controls <= page.labels, f"{url}: a field without a label"
        assert len(page.ids) == len(set(page.ids)), f"{url}: an id twice"
        assert page.source.count("<h1>") == 1, url
        assert all(table.caption and table.headers for table in page.tables), url
        assert len(response.body) < 30_000, url


def test_nothing_comes_from_another_server(web: Web) -> None:
    for url, response in crawl(web):
        for found in re.findall(r"https?://([^/\"&<\s]+)", response.body.decode()):
            assert found == f"{DOMAIN}:{PORT}" or found.endswith(f".{DOMAIN}:{PORT}"), url
        assert b" src=" not in response.body, url


def test_equal_requests_get_equal_bytes_and_other_seeds_other_bytes(web: Web) -> None:
    again, other = Web(draw_records(7)), Web(draw_records(8))
    pages = [url for url, _ in crawl(web)]
    assert all(visit(web, url) == visit(again, url) for url in pages)
    differ = [url for url in pages if visit(web, url) != visit(other, url)]
    assert len(differ) > 0.7 * len(pages)


def test_the_directory_shows_nothing_before_its_script_has_run(web: Web) -> None:
    body = visit(web, f"http://directory.{DOMAIN}/category/cafes").body.decode()
    shown, _, later = body.partition("<template")
    assert "<table" not in shown
    assert "Loading" in shown
    assert "Next page" in later
    delay = re.search(r"},(\d+)\);</script>", body)
    assert delay
    assert 300 <= int(delay[1]) <= 800


@pytest.mark.parametrize(
    ("site", "path", "status", "words"),
    [
        ("dealfinder", "/compare/rye-flour-1-kg", 403, "Access denied"),
        ("tickets", "/museum", 200, "CAPTCHA"),
        ("gazette", "/login", 200, "for subscribers"),
        ("weather", "/api/archive?station=x", 404, "station is one of"),
        ("weather", "/month?station=x&month=2020-13", 404, "No such month"),
        ("weather", "/day?date=1066-10-14", 404, "No such day"),
        ("harbour", "/tides?month=2023-01", 404, "2024-01 to 2024-12"),
        ("shops", "/find?item=x", 404, "Choose an item"),
        ("directory", "/find?name=x", 200, "No business found"),
        ("search", "/?q=zzz", 200, "Nothing found"),
    ],
)
def test_walls_and_dead_ends_say_what_they_are(
    web: Web, site: str, path: str, status: int, words: str
) -> None:
    response = visit(web, f"http://{site}.{DOMAIN}{path}")
    assert response.status == status
    assert words in response.body.decode()


def test_the_login_and_the_captcha_let_nobody_in(web: Web) -> None:
    article = web.respond(Request("gazette", "/article/x", port=PORT))
    assert article.status == 302
    assert dict(article.headers)["Location"] == "/login?next=/article/x"
    assert web.respond(Request("gazette", "/login", posted=True)).status == 401
    again = web.respond(Request("tickets", "/museum", posted=True)).body.decode()
    assert "try again" in again
    assert web.respond(Request("tides", "/")).hangs


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("start=2020-01-01&end=2019-01-01", "start and end are days"),
        ("start=2018-12-31&end=2019-01-01", "start and end are days"),
        ("start=2020-01-01&end=2020-01-02&fields=snow", "fields is a comma-separated list"),
    ],
)
def test_the_api_refuses_what_it_has_not(web: Web, query: str, words: str) -> None:
    manual = visit(web, f"http://weather.{DOMAIN}/api").body.decode()
    station = re.search(r"station=([a-z-]+)", manual)
    assert station
    response = visit(web, f"http://weather.{DOMAIN}/api/archive?station={station[1]}&{query}")
    assert response.status == 400
    assert words in response.body.decode()


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_request_breaks_a_page(web: Web, data: st.DataObject) -> None:
    site = data.draw(st.sampled_from(web.sites))
    text = st.text(st.characters(codec="utf-8"), max_size=30)
    names = ("q", "station", "month", "date", "start", "end", "fields", "page", "from", "to")
    paths = ("/", "/month", "/day", "/api/archive", "/sales", "/find", "/tides", "/category/cafes")
    request = Request(
        site,
        data.draw(st.one_of(st.sampled_from(paths), text.map(lambda tail: f"/{tail}"))),
        data.draw(st.dictionaries(st.sampled_from((*names, "item", "name", "day")), text)),
        posted=data.draw(st.booleans()),
    )
    response = web.respond(request)
    if response.content_type.startswith("text/html") and response.body:
        Page(response.status, response.body.decode())


def test_a_query_is_shown_as_text_and_never_as_markup(web: Web) -> None:
    attack = "<script>alert(1)</script>\"'><b>"
    response = web.respond(Request("search", "/", {"q": attack}))
    body = response.body.decode()
    assert "<script>" not in body
    assert "&lt;script&gt;" in body
