"""A site on this machine for driving a real browser: one page for each thing that can happen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGE = "<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>{body}"

POSITIVE = """<h1>Wares</h1><p id=state>Nothing in the basket</p>
<button onclick="document.getElementById('state').textContent = 'One lamp in the basket';
location.hash = 'basket'">Add the lamp</button>"""

STANDING_STILL = """<h1>Opening hours</h1><p>Monday to Friday, nine to five.</p>
<button>Nothing happens</button>"""

STALE = """<h1>Notes</h1><ul id=list></ul><button onclick="draw()">Refresh</button>
<p id=state>Not saved</p><script>
let drawn = 0;
function draw() {
  drawn += 1;
  document.getElementById('list').innerHTML = `<li><button onclick="save()">Save</button></li>`
    + '<li><button>Undo</button></li>'.repeat(drawn - 1);
}
function save() { document.getElementById('state').textContent = 'Saved' }
draw();</script>"""

REDRAWN = (
    STALE
    + """<script>new EventSource('/api/redraw').onmessage = () => { draw(); fetch('/api/drawn') }
</script>"""
)

NEWS = """<p id=n>One story</p><button>Nothing</button><script>
new EventSource('/api/redraw').onmessage = () => {
  document.getElementById('n').textContent = 'Two stories'; fetch('/api/drawn') }
</script>"""

LATER = """<button onclick="setTimeout(() => { document.getElementById('o').textContent =
'The answer is 42' }, 250)">Ask</button> <a href="/slow?ms=400">Slow page</a>
<button onclick="fetch('/api/late').then(r => r.text()).then(t => {
document.getElementById('o').textContent = t })">Fetch</button>
<button onclick="setTimeout(() => location.href = '/redirect/script', 0)">Leave</button>
<a href="mailto:a@b.test">Write</a><p id=o>waiting</p>"""

SHOP = """<h1>Lamp</h1><p>Price: 20.00</p>
<form method=post action=/shop/buy><label>Note <input name=note></label>
<button>Buy now</button></form> <a href=/shop/terms>How to pay</a>"""

DECEPTIVE = """<h1>Forbidden City</h1><p>Access denied to cars. The session timeout of the audio
guide is one hour; CAPTCHA-free booking. Element not found? Ask a guide. 403 steps to the top.</p>
<a href=/deceptive/tickets>Forbidden City tickets: too many requests</a>"""

FORM = """<form><label>Name <input name=name></label><label>Secret <input type=password></label>
<label>Text <textarea></textarea></label><label>Day <input type=date></label>
<select aria-label=Month><option>April<option>May</select>
<label><input type=checkbox> Agree</label><input aria-label=Fixed readonly value=x>
<button type=button disabled>Off</button></form>"""

CAPTCHA = '<div class="g-recaptcha"></div><p>One more step.</p>'

PROTOTYPES = """<script>
for (const kind of [Element, Node, Document, Array, String, Map, WeakRef, JSON, Object]) {
  for (const name of Object.getOwnPropertyNames(kind.prototype ?? kind)) {
    try { Object.defineProperty(kind.prototype ?? kind, name, { get() { throw 1 } }) } catch {}
  }
}</script><h1>Still here</h1><button>Press</button>"""

CLOBBER = """<h1>Named</h1><img name=body><img name=querySelectorAll><img name=title>
<form>{}<button>Send it</button></form>""".format(
    "".join(
        f"<input name={name} value=x>"
        for name in "tagName getAttribute matches childNodes nodeType firstChild nextSibling "
        "shadowRoot checkVisibility children parentNode querySelector isConnected labels role "
        "isContentEditable".split()
    )
)

DEEP = """<div id=root></div><p>Below</p><script>
let at = document.getElementById('root');
for (let i = 0; i < 10000; i++) { const e = document.createElement(i % 2 ? 'x-y' : 'span');
  at.appendChild(e); at = e }
at.textContent = 'bottom'</script>"""

SHADOW = """<x-card><b>slotted words</b></x-card><iframe srcdoc="<button>Inner</button>"></iframe>
<div onclick="document.title='outer'"><p>Wrapped text</p><button>Wrapped</button></div><script>
customElements.define('x-card', class extends HTMLElement { connectedCallback() {
  this.attachShadow({mode: 'open'}).innerHTML = '<p>in the shadow</p><slot></slot>' } })</script>"""

CLOCK = """<p id=c>12:00:00</p><script>setInterval(() => { document.getElementById('c')
.textContent = new Date().toISOString().slice(11, 19) }, 5)</script>"""

DIALOGS = """<p>Quiet</p><button onclick="while (true) alert('again')">Talk</button>
<button onclick="this.textContent = confirm('Sure?')">Ask</button>"""

WINDOWS = """<a href=/cycle/a target=_blank>Elsewhere</a>
<button onclick="for (let i = 0; i < 30; i++) window.open('/cycle/b')">Many</button>"""

LEAVE = """<button onclick="onbeforeunload = (e) => { e.preventDefault(); return 'x' }">Hold
</button>"""

FORGED = r"""<p id=p></p><script>
document.getElementById('p').textContent = 'half \ud800 pair \u0000 nul';
document.title = 'Forged\nnote: title';
console.log('x'.repeat(1e6));
alert('said\nnote: dialog')</script>"""

REQUESTS = """<button onclick="for (let i = 0; i < 300; i++) fetch('/api/get?' + i)">Ask</button>
<button onclick="fetch('/api/post', {method: 'POST'})">Tell</button>"""

COLOURS = "".join(
    f'<p style="float:left;width:10%;height:80px;margin:0;background:rgb({n * 83 % 256},9,9)">'
    for n in range(80)
)

PAGES: dict[str, tuple[str, str]] = {
    "/": ("Start", '<h1>Start</h1><a href="/recovery/progress-positive">Wares</a>'),
    "/recovery/progress-positive": ("Wares", POSITIVE),
    "/recovery/no-progress": ("Hours", STANDING_STILL),
    "/captcha": ("Check", CAPTCHA),
    "/bot-check": ("Just a moment...", "<p>Checking your browser</p>"),
    "/captcha/rich": ("Comments", CAPTCHA + "<p>A comment</p>" * 200),
    "/stale": ("Notes", STALE),
    "/redrawn": ("Notes", REDRAWN),
    "/news": ("News", NEWS),
    "/later": ("Later", LATER),
    "/login": ("Log in", "<form><label>Password <input type=password></label></form>"),
    "/cycle/a": ("A", "<h1>Page A</h1><a href=/cycle/b>To B</a>"),
    "/cycle/b": ("B", "<h1>Page B</h1><a href=/cycle/a>To A</a>"),
    "/shop": ("Lamp", SHOP),
    "/shop/thanks": ("Thanks", "<h1>Thank you</h1><p id=order>Order 17 is on its way</p>"),
    "/deceptive": ("Forbidden City: access denied?", DECEPTIVE),
    "/deceptive/tickets": ("Forbidden", "<h1>Tickets</h1>" + "<p>Session timeout</p>" * 120),
    "/form": ("Form", FORM),
    "/clock": ("Clock", CLOCK),
    "/colours": ("Colours", COLOURS),
    "/long": ("Long", '<div style="height:5000px">Top</div><p>Bottom</p>'),
    "/redirect/script": ("Hop", "<script>location.replace('/redirect/script2')</script>"),
    "/redirect/script2": ("Hop", "<script>location.replace('/redirect/done')</script>"),
    "/redirect/done": ("Done", "<h1>Arrived</h1>"),
    "/hostile/prototypes": ("Prototypes", PROTOTYPES),
    "/hostile/clobber": ("Clobbered", CLOBBER),
    "/hostile/megabytes": ("Megabytes", "<p>" + "word " * 600_000 + "</p><p>last</p>"),
    "/hostile/many": ("Many", "<p hidden>x</p>" * 60_000 + "<p>x</p>" * 40_000),
    "/hostile/buttons": ("Buttons", "<button>b</button>" * 5_200),
    "/hostile/deep": ("Deep", DEEP),
    "/hostile/shadow": ("Shadow", SHADOW),
    "/hostile/dialogs": ("Dialogs", DIALOGS),
    "/hostile/windows": ("Windows", WINDOWS),
    "/hostile/hang": ("Hang", "<p>Busy</p><button onclick='while (true);'>Freeze</button>"),
    "/hostile/reload": ("Reload", "<p>again</p><script>location.reload()</script>"),
    "/hostile/leave": ("Stay", LEAVE),
    "/hostile/text": ("Forged", FORGED),
    "/hostile/requests": ("Requests", REQUESTS),
}


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        special = SPECIAL.get(address.path)
        if special is not None:
            special(self)
        elif address.path in PAGES:
            self.page(*PAGES[address.path])
        else:
            self.page("Not found", "<p>There is nothing here.</p>", status=404)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path == "/shop/buy":
            self.redirect("/shop/thanks", status=303)
        else:
            self.send("{}", kind="application/json")

    def page(self, title: str, body: str, *, status: int = 200) -> None:
        self.send(PAGE.format(title=title, body=body), status=status)

    def send(self, text: str, *, kind: str = "text/html; charset=utf-8", status: int = 200) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def redirect(self, where: str, *, status: int = 302) -> None:
        self.send_response(status)
        self.send_header("location", where)
        self.send_header("content-length", "0")
        self.end_headers()

    def slow(self) -> None:
        delay_ms = int(parse_qs(urlsplit(self.path).query).get("ms", ["300"])[0])
        time.sleep(delay_ms / 1000)
        self.page("Slow", "<h1>Worth the wait</h1>")

    def late(self) -> None:
        time.sleep(0.15)
        self.send("fetched words", kind="text/plain")

    def tell_to_redraw(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        if self.server.redraw.wait(20):
            self.server.redraw.clear()
            self.wfile.write(b"data: now\n\n")
        self.close_connection = True

    def hear_of_drawing(self) -> None:
        self.server.drawn.set()
        self.send("{}", kind="application/json")

    def download(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/octet-stream")
        self.send_header("content-disposition", 'attachment; filename="x.bin"')
        self.send_header("content-length", "4")
        self.end_headers()
        self.wfile.write(b"\0\1\2\3")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its signature
        """Nobody reads it."""


SPECIAL: dict[str, Callable[[_Answer], None]] = {
    "/recovery/blocking-page": lambda a: a.page(
        "Denied", "<p>You cannot see this.</p>", status=403
    ),
    "/rate-limited": lambda a: a.page("Slow down", "<p>Later.</p>", status=429),
    "/account": lambda a: a.redirect("/login?next=/account"),
    "/redirect/loop": lambda a: a.redirect("/redirect/loop"),
    "/redirect/chain": lambda a: a.redirect("/redirect/chain2", status=301),
    "/redirect/chain2": lambda a: a.redirect("/redirect/done", status=307),
    "/empty": lambda a: a.send("", status=204),
    "/hostile/download": _Answer.download,
    "/slow": _Answer.slow,
    "/api/late": _Answer.late,
    "/api/redraw": _Answer.tell_to_redraw,
    "/api/drawn": _Answer.hear_of_drawing,
    "/api/items": lambda a: a.send('{"items": ["lamp", "chair"]}', kind="application/json"),
    "/api/get": lambda a: a.send("{}", kind="application/json"),
    "/favicon.ico": lambda a: a.send("", status=404),
}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.redraw, self.drawn = threading.Event(), threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that was killed hangs up in the middle of a page."""


class Site:
    """The running site."""

    def __init__(self, server: _Server) -> None:
        self._server = server
        self.base = f"http://127.0.0.1:{server.server_port}"
        """Its address, without a slash at the end."""

    def redraw(self) -> None:
        """The open page `/redrawn` has replaced its elements, behind the agent's back."""
        self._server.drawn.clear()
        self._server.redraw.set()
        assert self._server.drawn.wait(20), "the page did not redraw itself"


@contextmanager
def serve() -> Iterator[Site]:
    """The site, on a free port of this machine."""
    server = _Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Site(server)
    finally:
        server.redraw.set()
        server.shutdown()
        thread.join()
        server.server_close()
