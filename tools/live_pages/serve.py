# ruff: noqa
# mypy: ignore-errors
# fmt: off
#!/usr/bin/env python3
"""Small web sites on the loopback.  Usage: serve.py PORT [PORT2]

PORT   the first origin, to be opened as http://127.0.0.1:PORT
PORT2  another origin (default PORT+1), used by the pages as http://localhost:PORT2
In pages and answers {{OTHER}} stands for the second origin, {{SELF}} for the first.
"""
import html
import json
import os
import random
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pages")
PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 8741
PORT2 = int(sys.argv[2]) if len(sys.argv) > 2 else PORT + 1
SELF = f"http://127.0.0.1:{PORT}"
OTHER = f"http://localhost:{PORT2}"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript",
         ".json": "application/json", ".svg": "image/svg+xml"}
CSS = ("body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#222;background:#fafafa}"
       "header{background:#234;color:#fff;padding:14px 28px}header a{color:#cde;margin-right:18px}"
       "main{max-width:860px;margin:28px auto;background:#fff;padding:26px 34px;border:1px solid #ddd}"
       "input,button,select{font:inherit;padding:6px 10px;margin:4px 0}footer{color:#777;text-align:center;padding:20px}"
       ".err{color:#b00020}iframe{border:1px solid #ccc}")


def doc(title, body, lang="en", head="", bare=False):
    top = "" if bare else f"<header><b>{html.escape(title.split(' | ')[-1])}</b></header>"
    foot = "" if bare else "<footer>&copy; All rights reserved</footer>"
    return (f"<!doctype html><html lang='{lang}'><head><meta charset='utf-8'><title>{html.escape(title)}</title>"
            f"<meta name='viewport' content='width=device-width'>{head}<style>{CSS}</style></head>"
            f"<body>{top}<main>{body}</main>{foot}</body></html>")


LOREM = ("The committee met on the second Tuesday of the month and agreed on the plan for the coming season.",
         "Visitors are asked to use the entrance on the north side while the works in the yard go on.",
         "Volunteers looked after the garden, and the harvest was shared among the schools nearby.",
         "A printed summary can be had at the desk, and the long version is kept for ten years.",
         "The next report will follow in the spring, once the figures of the winter are complete.")

# path -> (status, answer, shortest delay, longest delay)
API = {
    "/api/profile": (200, {"ok": True}, .08, .6),
    "/api/prefs/digest": (200, {"ok": True}, .08, .4),
    "/api/prefs/weekly": (500, {"error": "internal"}, .1, .5),
    "/api/favourites": (200, {"ok": True, "count": 5}, .05, .5),
    "/api/wishlist": (401, {"error": "login_required"}, .08, .5),
    "/api/cart/blue-mug": (200, {"items": 1}, .05, .5),
    "/api/cart/red-mug": (409, {"error": "sold_out"}, .05, .5),
    "/api/offers": (500, {"error": "upstream"}, .1, .6),
    "/api/members": (403, {"error": "forbidden"}, .08, .5),
    "/api/lookup": (429, {"error": "too_many_requests", "retry": 60}, .05, .4),
    "/api/graphql": (200, {"data": None, "errors": [{"message": "ticket is locked by another agent"}]}, .1, .5),
    "/api/settings/signature": (500, {"error": "db"}, .1, .5),
    "/api/settings/language": (200, {"ok": True}, .1, .5),
    "/api/collect": (500, {"error": "collector down"}, .05, .2),
    "/api/pixel": (403, {"error": "blocked"}, .05, .2),
    "/api/attachments": (413, {"error": "too_large", "max": "1 MB"}, .1, .5),
    "/api/avatar": (200, {"ok": True}, .1, .5),
    "/api/draft": (200, {"saved": True}, .1, .6),
    "/api/draft2": (503, {"error": "unavailable"}, .1, .5),
    "/api/tickets/418/labels": (200, {"ok": True}, .1, .6),
    "/api/tickets/418/assign": (403, {"error": "not a member of this project"}, .1, .5),
    "/api/poll/vote": (200, {"votes": [41, 18, 9]}, .1, .6),
    "/api/orders": (201, {"order": "A-20417"}, .1, .6),
    "/api/pay": (500, {"error": "gateway"}, .2, .6),
    "/api/pay2": (200, {"paid": True}, .2, .6),
    "/api/messages": (200, {"sent": True}, .1, .6),
    "/api/account": (200, {"deleted": True}, .1, .6),
    "/api/files": (200, {"deleted": 3}, .1, .5),
    "/api/repo": (403, {"error": "protected"}, .1, .5),
    "/api/booking": (200, {"ref": "K7Q2"}, .1, .6),
    "/api/transfer": (200, {"ok": True}, .1, .6),
    "/api/subscription": (200, {"ok": True}, .1, .6),
    "/api/tax": (200, {"ok": True}, .1, .6),
    "/api/device": (200, {"ok": True}, .1, .6),
    "/api/export": (200, {"ok": True}, 30, 32),
    "/api/rooms": (200, {"rooms": []}, 30, 32),
    "/api/assistant": (200, {"text": "..."}, 30, 32),
    "/api/scan": (200, {"ok": True}, 30, 32),
    "/api/sync": (200, {"ok": True}, 30, 32),
    "/api/plate": (200, {"ok": True}, 30, 32),
    "/api/quotepdf": (200, {"ok": True}, 30, 32),
    "/api/poll-channel": (200, {"events": []}, 25, 27),
    "/api/trail": (200, {"ok": True}, 30, 32),
    "/api/upload": (200, {"ok": True}, 30, 32),
    "/api/regions": (200, {"ok": True}, 30, 32),
    "/api/bid": (200, {"ok": True}, .1, .6),
    "/api/tokens": (200, {"ok": True}, .1, .6),
    "/api/reviews": (200, {"challenge": True}, .1, .6),
    "/api/job/77": (200, {"state": "queued", "position": 14}, .05, .3),
    "/api/token": (200, {"token": "x"}, .02, .1),
    "/api/weather": (200, {"t": 14, "sky": "cloudy", "wind": "SW 12 km/h"}, .1, .6),
    "/api/timetable": (502, {"error": "bad gateway"}, .1, .5),
}
USERS = {"anna", "peter", "info"}
TITLES = ["Harbour lights", "A winter in Tromso", "The glass orchard", "Notes on rivers", "Salt and paper",
          "The quiet engine", "Maps of the interior", "Late trains", "Bread, slowly", "Under the viaduct",
          "The bell founder", "Three islands", "Copper days", "What the moss knows", "North of the lock"]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "web"
    sys_version = ""

    def log_message(self, *a):
        pass

    # ---- answers
    def send(self, status, body, ctype="text/html; charset=utf-8", **headers):
        if isinstance(body, (dict, list)):
            body, ctype = json.dumps(body), "application/json"
        if isinstance(body, str):
            body = body.replace("{{OTHER}}", OTHER).replace("{{SELF}}", SELF).encode()
        self.send_response(status)
        self.send_header("Content-Type", ctype)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Headers", "*")
        self.send_header("Access-Control-Allow-Methods", "*")
        for k, v in headers.items():
            for one in v if isinstance(v, list) else [v]:
                self.send_header(k.replace("_", "-"), one)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def redirect(self, to, status=302, **headers):
        self.send(status, "", Location=to.replace("{{OTHER}}", OTHER).replace("{{SELF}}", SELF), **headers)

    def cookies(self):
        out = {}
        for part in self.headers.get("Cookie", "").split(";"):
            k, _, v = part.strip().partition("=")
            out[k] = v
        return out

    def jitter(self, a=.05, b=.6):
        time.sleep(random.uniform(a, b))

    # ---- verbs
    def do_OPTIONS(self):
        self.send(204, "")

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.guard(self.get)

    def do_POST(self):
        n = int(self.headers.get("Content-Length") or 0)
        self.body = self.rfile.read(n) if n else b""
        self.guard(self.post)

    do_PUT = do_PATCH = do_DELETE = do_POST

    def guard(self, f):
        u = urlsplit(self.path)
        self.p, self.q = unquote(u.path), {k: v[0] for k, v in parse_qs(u.query).items()}
        try:
            f()
        except (BrokenPipeError, ConnectionResetError):
            pass

    def api(self):
        status, body, a, b = API[self.p]
        self.jitter(a, b)
        self.send(status, body)

    def post(self):
        p = self.p
        form = {k: v[0] for k, v in parse_qs(self.body.decode("utf-8", "replace")).items()}
        if p in API:
            return self.api()
        if p == "/api/coupon":
            self.jitter()
            code = json.loads(self.body or b"{}").get("code", "")
            if code == "SPRING15":
                return self.send(200, {"off": 15})
            return self.send(422, {"error": "unknown code"})
        if p == "/api/quote":                     # the first try of a visitor fails
            self.jitter()
            n = int(self.cookies().get("quote", "0"))
            head = {"Set_Cookie": f"quote={n + 1}; Path=/"}
            return self.send(500 if n == 0 else 200, {"price": 412} if n else {"error": "upstream"}, **head)
        if p == "/library/renew":
            self.jitter()
            if form.get("card", "").isdigit() and len(form["card"]) == 8:
                return self.redirect("/library/renewed.html", 303)
            return self.send(422, doc("Renew your card | Millbrook Library", "<h1>Renew your card</h1><p class='err'>There is a problem with your card number. It has 8 digits.</p><form method='post' action='/library/renew'><label>Card number <input name='card' value='%s'></label> <button>Continue</button></form>" % html.escape(form.get("card", ""))))
        if p == "/stadt/plz":
            self.jitter()
            if form.get("plz", "").isdigit() and len(form["plz"]) == 5:
                return self.redirect("/stadt/abfuhr.html", 303)
            return self.send(200, doc("Abfuhrkalender | Stadt Lindau", "<h1>Abfuhrkalender</h1><p class='err'>Bitte geben Sie eine gültige Postleitzahl ein.</p><form method='post' action='/stadt/plz'><label>Postleitzahl <input name='plz' id='plz' value='%s'></label> <button id='weiter'>Weiter</button></form>" % html.escape(form.get("plz", "")), "de"))
        if p == "/bank/login":
            self.jitter()
            if form.get("pw") == "correct-horse-7":
                return self.redirect("/bank/tan.html", 303)
            return self.send(200, doc("Sign in | Northgate Bank", "<h1>Sign in</h1><p class='err' role='alert'>The user name or the password is not right.</p><form method='post' action='/bank/login'><p><label>User <input name='user' id='user' value='%s'></label></p><p><label>Password <input name='pw' id='pw' type='password'></label></p><button id='go'>Sign in</button></form>" % html.escape(form.get("user", ""))))
        if p == "/forum/login":
            self.jitter()
            if form.get("pw") == "birch-tree-22":
                return self.redirect("/forum/thread.html", 303, Set_Cookie="forum=1; Path=/")
            return self.redirect("/forum/login.html?failed=1", 303)
        self.send(404, {"error": "no such endpoint"})

    def get(self):
        p, q, ck = self.p, self.q, self.cookies()
        if p in API:
            return self.api()
        # --- library
        if p == "/library/report":
            return self.send(500, doc("500", "<h1>Internal Server Error</h1><p>The server met an unexpected condition.</p>", bare=True))
        if p == "/library/catalogue":
            return self.redirect("/library/books")
        if p == "/library/books":
            return self.redirect("/library/catalogue.html", 301)
        if p == "/library/staff":
            return self.send(403, doc("Access denied | Millbrook Library", "<h1>403 Forbidden</h1><p>You do not have permission to view this area.</p>"))
        if p == "/library/rooms":
            return self.send(503, doc("Unavailable | Millbrook Library", "<h1>Service unavailable</h1><p>Room booking is down for maintenance.</p>"), Retry_After="3600")
        if p == "/library/ping":
            return self.send(204, "")
        if p == "/library/search":
            self.jitter()
            hits = [t for t in TITLES if q.get("q", "").lower() in t.lower()]
            return self.send(200, doc("Search | Millbrook Library", f"<h1>{len(hits)} titles for “{html.escape(q.get('q', ''))}”</h1><ol>" + "".join(f"<li><a href='/c/book-{i}'>{t}</a></li>" for i, t in enumerate(hits)) + "</ol><p><a href='/library/catalogue.html'>New search</a></p>"))
        if p == "/library/loans":
            return self.redirect("/library/login.html?next=/library/loans")
        # --- broken roads
        if p == "/museum/tour":
            self.close_connection = True
            self.connection.close()
            return
        if p == "/museum/loop":
            return self.redirect("/museum/loop2")
        if p == "/museum/loop2":
            return self.redirect("/museum/loop")
        if p == "/museum/exhibition-2014":
            return self.send(410, doc("Gone | Harbour Museum", "<h1>This page has been removed</h1>"))
        if p == "/museum/tickets":
            return self.send(200, doc("Please wait | Harbour Museum", "<p>You are being taken to our visitor pages&hellip;</p>", head="<meta http-equiv='refresh' content='0.7;url=/museum/visit.html'>"))
        if p == "/museum/archive":
            self.jitter(.4, .7)
            return self.send(200, doc("Archive | Harbour Museum", "<h1>Archive</h1><p>4,120 photographs of the docks, 1880 to 1975.</p>" + "".join(f"<p>{x}</p>" for x in LOREM)))
        if p == "/outdoor/spring":
            return self.redirect("/outdoor/index.html")
        if p == "/outdoor/p/tent-2":
            return self.send(200, doc("Outdoor Nord", "<h1>Sorry, we can’t find that page</h1><p>The product may have moved or is no longer sold.</p><p><a href='/outdoor/index.html'>Home</a></p>"))
        if p == "/stadt/formulare":
            return self.send(200, doc("Stadt Lindau", "<h1>Seite nicht gefunden</h1><p>Die gewünschte Seite ist leider nicht (mehr) vorhanden. Bitte nutzen Sie die Suche.</p><p><a href='/stadt/index.html'>Zur Startseite</a></p>", "de"))
        # --- walls
        if p == "/oauth/start":
            return self.redirect("{{OTHER}}/realms/acme/protocol/openid-connect/auth?client_id=" + q.get("c", "dash") + "&response_type=code&redirect_uri={{SELF}}/acme/callback&state=81f2")
        if p == "/realms/acme/protocol/openid-connect/auth":
            if q.get("client_id") == "wiki":      # a session is there
                return self.redirect("{{SELF}}/acme/callback?code=77a&state=81f2")
            return self.redirect("{{OTHER}}/realms/acme/login-actions/authenticate?execution=5d1&tab_id=k2")
        if p == "/realms/acme/login-actions/authenticate":
            return self.send(200, doc("Sign in to ACME", "<h1>Sign in to your account</h1><form method='post'><p><label>Username or email <input name='username' autocomplete='username'></label></p><p><label>Password <input name='password' type='password'></label></p><button type='submit'>Sign In</button></form>", bare=True))
        if p == "/acme/callback":
            return self.redirect("/acme/wiki.html")
        if p in ("/recaptcha/api2/anchor", "/recaptcha/api2/bframe"):
            inner = "<div style='font:13px sans-serif;padding:18px 12px;background:#f9f9f9'><span style='display:inline-block;width:22px;height:22px;border:2px solid #c1c1c1;vertical-align:middle;background:#fff' role='checkbox' aria-checked='false' tabindex='0' id='recaptcha-anchor'></span> &nbsp;I'm not a robot</div>"
            return self.send(200, f"<!doctype html><title>reCAPTCHA</title><body style='margin:0'>{inner}</body>")
        if p == "/captcha/v1/frame":
            return self.send(200, "<!doctype html><title>hCaptcha</title><body style='margin:0;font:13px sans-serif'><div style='padding:20px' role='checkbox' aria-checked='false' tabindex='0'>&#9633; I am human</div></body>")
        if p == "/flats/search":
            self.jitter()
            return self.send(200, doc("Flats in Graz | Wohnfinder", "<h1>Flats in Graz</h1><p>Before we show the results, please confirm that you are not a robot.</p><iframe title='reCAPTCHA' width='304' height='78' src='{{OTHER}}/recaptcha/api2/anchor?ar=1&k=6Lc&co=aHR0&hl=en&size=normal'></iframe><p><button disabled>Continue</button></p>"))
        if p == "/prices/compare":
            return self.send(403, doc("Just a moment...", "<h1>prices.example</h1><h2>Verify you are human by completing the action below.</h2><div style='border:1px solid #ccc;width:300px;padding:18px'><input type='checkbox'> Verify you are human</div><p>prices.example needs to review the security of your connection before proceeding.</p><small>Ray ID: 8f2c1e77a9d0</small>", bare=True))
        if p == "/prices/history":
            return self.send(429, doc("Too many requests", "<h1>429 Too Many Requests</h1><p>Please slow down.</p>", bare=True), Retry_After="120")
        if p == "/prices/search":
            self.jitter()
            return self.send(200, doc("Prices", "<h1>Search</h1><p>You have made too many searches in a short time. Please wait a few minutes and try again.</p>"))
        if p == "/annuaire/recherche":
            self.jitter()
            return self.send(200, doc("Annuaire", "<h1>Annuaire des entreprises</h1><p>Vous avez effectué trop de requêtes. Veuillez patienter quelques minutes avant de réessayer.</p>", "fr"))
        if p == "/jp/zaseki":
            return self.send(200, doc("座席予約", "<h1>ただいまアクセスが集中しています</h1><p>しばらく時間をおいてから、もう一度アクセスしてください。</p>", "ja"))
        if p == "/es/cita":
            self.jitter()
            return self.send(200, doc("Cita previa", "<h1>Verificación de seguridad</h1><p>Deslice la pieza para completar el rompecabezas y continuar.</p><div style='width:320px;height:160px;background:#9bb'></div><input type='range' min='0' max='100' value='0' style='width:320px'>", "es"))
        if p == "/tv/player":
            return self.send(451, doc("Not available", "<h1>This programme is not available in your country</h1><p>For reasons of rights it can be seen only from within Denmark.</p>"))
        if p == "/air/checkin":
            return self.send(403, "<html><head><title>Access Denied</title></head><body><h1>Access Denied</h1>You don't have permission to access this page on this server.<p>Reference #18.4d2e1602.1736.2b9f1</p></body></html>")
        if p == "/concerts/tickets":
            return self.send(200, doc("Waiting room", "<h1>You are now in line</h1><p>There are 2,381 people ahead of you. When it is your turn you will have ten minutes to enter the shop. Do not reload this page.</p><progress max='100' value='3'></progress>"))
        if p == "/crm/admin":
            return self.redirect("/acme/signin.html?next=/crm/admin")
        if p == "/pt/consulta":
            self.jitter()
            return self.send(200, doc("Consulta", "<h1>Consulta de processos</h1><p>Verifique que você não é um robô para continuar.</p><iframe title='Widget contendo caixa de seleção para desafio de segurança hCaptcha' src='{{OTHER}}/captcha/v1/frame' width='300' height='74'></iframe>", "pt"))
        if p == "/intranet/wiki":
            return self.send(401, doc("401", "<h1>Authorization required</h1>", bare=True))
        if p == "/weather/radar":                 # first too fast, later fine
            seen = float(ck.get("radar", "0") or 0)
            now = time.time()
            if not seen or now - seen < 1.5:
                return self.send(429, doc("Slow down | Weather desk", "<h1>Too many requests</h1><p>Try again in two seconds.</p><p><a id='again' href='/weather/radar'>Try again</a></p>"), Set_Cookie=f"radar={now if not seen else seen}; Path=/")
            return self.send(200, doc("Radar | Weather desk", "<h1>Radar</h1><p>Showers over the west coast, moving north-east. Dry inland until evening.</p>"))
        if p == "/recipes/soup":                  # the first answer is an error
            self.jitter()
            n = int(ck.get("soup", "0") or 0)
            if n < 1:
                return self.send(502, doc("Recipes", "<h1>502 Bad Gateway</h1><p><a id='retry' href='/recipes/soup'>Try again</a></p>"), Set_Cookie=f"soup={n + 1}; Path=/")
            return self.send(200, doc("Leek soup | Recipes", "<h1>Leek soup</h1><p>Slice four leeks, sweat them in butter, add potatoes and stock, simmer for twenty minutes.</p>"))
        # --- APIs with an input
        if p == "/api/user":
            self.jitter()
            return self.send(200, {"free": q.get("name", "") not in USERS})
        if p == "/api/more":
            self.jitter()
            page = int(q.get("page", "1"))
            return self.send(200, {"items": [f"{TITLES[(page * 5 + i) % 15]}, part {page}" for i in range(5)] if page < 40 else []})
        if p == "/api/none":
            self.jitter()
            return self.send(200, {"items": []})
        if p == "/api/stations":
            self.jitter(.05, .3)
            names = ["Basel", "Bern", "Berlin", "Brno", "Bergen", "Zürich", "Zug", "Graz", "Linz"]
            return self.send(200, [n for n in names if n.lower().startswith(q.get("q", "").lower())])
        if p == "/api/events":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            for i in range(60):
                self.wfile.write(b"data: %d\n\n" % i)
                self.wfile.flush()
                time.sleep(1)
            return
        # --- downloads
        if p.startswith("/files/"):
            name = p.rsplit("/", 1)[1]
            if name == "prices-2023.csv":
                return self.send(404, doc("404", "<h1>File not found</h1>", bare=True))
            self.jitter(.05, .4)
            return self.send(200, b"id;name;value\n1;a;2\n" * 20, "application/octet-stream", Content_Disposition=f'attachment; filename="{name}"')
        # --- plain content
        if p.startswith("/c/"):
            name = p[3:].replace("-", " ").capitalize()
            return self.send(200, doc(name, f"<h1>{html.escape(name)}</h1>" + "".join(f"<p>{x}</p>" for x in LOREM)))
        if p in ("/", "/favicon.ico"):
            return self.send(200 if p == "/" else 204, doc("Index", "<h1>Index</h1>") if p == "/" else "")
        full = os.path.normpath(os.path.join(ROOT, p.lstrip("/")))
        if full.startswith(ROOT + os.sep) and os.path.isfile(full):
            with open(full, encoding="utf-8") as f:
                return self.send(200, f.read(), TYPES.get(os.path.splitext(full)[1], "text/plain"))
        self.send(404, doc("Page not found", "<h1>404 – Page not found</h1><p>The address may be mistyped.</p><p><a id='sitesearch' href='/library/catalogue.html'>Search the catalogue</a></p>"))


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


if __name__ == "__main__":
    second = Server(("127.0.0.1", PORT2), Handler)
    threading.Thread(target=second.serve_forever, daemon=True).start()
    first = Server(("127.0.0.1", PORT), Handler)
    print(f"{SELF}  {OTHER}", flush=True)
    try:
        first.serve_forever()
    except KeyboardInterrupt:
        pass
