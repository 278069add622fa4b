#!/usr/bin/env python3
# ruff: noqa
# mypy: ignore-errors
# fmt: off
"""Small invented web sites on the loopback.  Usage: serve.py PORT [PORT2]

PORT   first origin, opened as http://127.0.0.1:PORT
PORT2  second origin (default PORT+1), used by the pages as http://localhost:PORT2
{{OTHER}} in a page or an answer is the second origin, {{SELF}} the first.
No state is kept on the server; what has to be remembered is kept in cookies.
"""
import html
import json
import os
import random
import sys
import threading
import time
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pages")
PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 8851
PORT2 = int(sys.argv[2]) if len(sys.argv) > 2 else PORT + 1
SELF = f"http://127.0.0.1:{PORT}"
OTHER = f"http://localhost:{PORT2}"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript; charset=utf-8",
         ".json": "application/json", ".svg": "image/svg+xml"}

# path -> (status, answer, shortest delay, longest delay); status 0 drops the connection
API = {
    "/d/fleet/vehicles": (502, {"message": "Bad gateway"}, .2, .8),
    "/d/report/build": (200, {"done": True}, 24, 28),
    "/d/visa/slots": (200, {"slots": []}, 25, 30),
    "/d/flights": (200, [{"c": "NA 214", "d": "07:10", "p": 118}, {"c": "LO 88", "d": "11:45", "p": 96}, {"c": "NA 220", "d": "19:05", "p": 131}], 2.0, 2.9),
    "/d/post/like": (500, {"error": "write conflict"}, .5, 1.0),
    "/d/graphql": (200, {"data": None, "errors": [{"message": "Overlaps with approved leave 3-7 August"}]}, .2, .7),
    "/d/lines/status": (500, {"error": "timeout"}, .05, .3),
    "/d/compare/add": (200, {"count": 1}, .1, .5),
    "/d/compare/remove": (200, {"count": 0}, .1, .4),
    "/d/pad/save": (204, None, .2, .6),
    "/d/stream/quality": (0, None, .3, .6),
    "/d/regions/PT": (200, ["Alentejo", "Algarve", "Centro", "Lisboa", "Norte"], .1, .5),
    "/d/regions/CH": (200, ["Bern", "Genf", "Tessin", "Zug"], .1, .5),
    "/d/coupon": (200, {"valid": False, "message": "This code expired on 30 June."}, .2, .7),
    "/d/cv": (200, {"ok": True, "pages": 2}, .3, .9),
    "/d/invoices": (200, [["2211", "Bauer KG", "1,204.00"], ["2212", "Osman Ltd", "88.50"], ["2213", "Pérez SA", "640.00"]], .2, .7),
    "/d/cards/move": (200, {"ok": True}, .1, .4),
    "/d/cards/rename": (200, {"ok": True}, .1, .4),
    "/d/device/lamp": (200, {"on": True}, .2, .6),
    "/d/wiki/edit": (403, {"error": "Space editors only"}, .1, .5),
    "/d/tv/play": (451, {"error": "geo"}, .2, .6),
    "/d/mail/new": (200, {"messages": []}, .1, .4),
    "/d/project/9931": (204, None, .3, .8),
    "/d/courrier": (202, {"id": "m-7781"}, .2, .7),
    "/d/articulo/publicar": (200, {"url": "/revista/huerto"}, .3, .8),
    "/d/contratto/disdici": (200, {"fine": "31/07"}, .3, .8),
    "/d/photos/trash": (200, {"removed": 214}, .3, .7),
    "/d/konto/usun": (200, {"ok": True}, .3, .7),
    "/d/chat/send": (201, {"ok": True}, .1, .4),
    "/d/apply/finish": (201, {"ref": "AP-5521"}, .4, .9),
    "/d/contacts/4": (200, {"ok": True}, .1, .4),
    "/d/vault/shred": (200, {"ok": True}, .2, .5),
    "/d/dent/hold": (200, {"held": "10:40"}, .1, .5),
    "/d/give/charge": (200, {"receipt": "D-30117"}, .5, 1.1),
    "/d/chat/open": (503, {"error": "no_agents"}, .4, .9),
    "/d/follow": (200, {"ok": True}, .1, .4),
    "/d/ops/range": (200, {"v": [12, 30, 22, 41, 35, 18, 27]}, .2, .6),
    "/d/scrap/offer": (200, {"eur": 412}, .6, 1.2),
    "/d/newsletter/unsub": (200, {"ok": True}, .2, .6),
    "/d/kyc/state": (200, {"state": "pending"}, .1, .4),
    "/d/seat/hold": (200, {"ok": True}, .1, .3),
    "/d/tickets/verify": (200, {"challenge": "grid"}, .3, .7),
}
# path -> answers by how often this visitor has asked; the last one stays
FLAKY = {
    "/d/radar": [(503, {"error": "busy"}), (200, {"frames": ["14:00 light rain", "14:15 light rain", "14:30 dry"]})],
    "/d/sync": [(504, {"error": "gateway timeout"}), (200, {"synced": 37})],
}
TAKEN = {"anna", "max", "river", "moss"}
RECIPES = ["Lentil soup with lemon", "Red lentil dal", "Lentil and beet salad", "Barley soup", "Apple strudel", "Potato dumplings"]
CSS = ("body{margin:0;font:16px/1.55 Verdana,sans-serif;color:#1d2733;background:#f3f1ec}"
       ".w{max-width:820px;margin:0 auto;padding:24px;background:#fff;min-height:70vh}"
       ".n{background:#5b3a29;color:#fff;padding:12px 24px}.n a{color:#fde}"
       "input,button{font:inherit;padding:7px 12px;margin:3px 0}.bad{color:#a11;border-left:4px solid #a11;padding-left:10px}")


def page(title, body, site="", lang="en"):
    return (f"<!doctype html><html lang='{lang}'><head><meta charset='utf-8'><title>{html.escape(title)}</title>"
            f"<style>{CSS}</style></head><body><div class='n'>{html.escape(site or title)} &nbsp; <a href='/'>Start</a></div>"
            f"<div class='w'>{body}</div></body></html>")


def clinic_form(name="", number="", errors=()):
    e = "".join(f"<li>{html.escape(x)}</li>" for x in errors)
    box = f"<div class='bad' role='alert'><b>Your details could not be accepted</b><ul>{e}</ul></div>" if e else ""
    return page("Registration", f"<h1>Registration, part 1 of 3</h1>{box}<form method='post' action='/srv/clinic/register'>"
                f"<p><label>Full name<br><input id='nm' name='name' value='{html.escape(name)}'></label></p>"
                f"<p><label>Insurance number<br><input id='no' name='number' value='{html.escape(number)}'></label></p>"
                "<button id='next'>Continue</button></form>", "Lakeside Clinic")


def login_form(user="", bad=False):
    msg = "<p class='bad' role='alert'>The user name or the password is not right.</p>" if bad else ""
    return page("Log in", f"<h1>Log in</h1>{msg}<form method='post' action='/srv/coop/login'>"
                f"<p><label>User<br><input id='u' name='u' value='{html.escape(user)}'></label></p>"
                "<p><label>Password<br><input id='p' name='p' type='password'></label></p><button id='go'>Log in</button></form>", "Millbrook Housing Co-op")


class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def send(self, status, body=b"", ctype="text/html; charset=utf-8", head=()):
        if isinstance(body, str):
            body = body.replace("{{OTHER}}", OTHER).replace("{{SELF}}", SELF).encode()
        self.send_response(status)
        if status not in (204, 304):
            self.send_header("Content-Type", ctype)
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Access-Control-Allow-Origin", "*")
        for k, v in head:
            self.send_header(k, v)
        self.end_headers()
        if self.command != "HEAD" and status not in (204, 304):
            self.wfile.write(body)

    def js(self, status, data, head=()):
        self.send(status, "" if data is None else json.dumps(data), "application/json", head)

    def go(self, where, status=302, head=()):
        self.send(status, b"", head=[("Location", where), *head])

    def cookie(self, name):
        c = SimpleCookie(self.headers.get("Cookie") or "")
        return c[name].value if name in c else ""

    def handle_any(self):
        n = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(n) if n else b""
        u = urlsplit(self.path)
        path, q = unquote(u.path), {k: v[-1] for k, v in parse_qs(u.query).items()}
        f = {}
        if "urlencoded" in (self.headers.get("Content-Type") or ""):
            f = {k: v[-1] for k, v in parse_qs(raw.decode("utf-8", "replace"), keep_blank_values=True).items()}
        try:
            self.route(path, q, f)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = handle_any

    def do_OPTIONS(self):
        self.send(204, head=[("Access-Control-Allow-Methods", "*"), ("Access-Control-Allow-Headers", "*")])

    def route(self, path, q, f):
        if path in API:
            st, data, lo, hi = API[path]
            time.sleep(random.uniform(lo, hi))
            if st == 0:
                self.close_connection = True
                self.connection.shutdown(2)
                return
            return self.js(st, data)
        if path in FLAKY:
            key = "k" + path.replace("/", "_")
            i = int(self.cookie(key) or 0)
            st, data = FLAKY[path][min(i, len(FLAKY[path]) - 1)]
            time.sleep(random.uniform(.2, .7))
            return self.js(st, data, [("Set-Cookie", f"{key}={i + 1}; Path=/")])
        if path == "/d/nick":
            time.sleep(random.uniform(.1, .4))
            return self.js(200, {"free": q.get("u", "").lower() not in TAKEN})
        if path == "/d/recipes":
            time.sleep(random.uniform(.2, .7))
            w = q.get("q", "").lower()
            return self.js(200, [r for r in RECIPES if w in r.lower()])
        if path == "/d/gallery":
            time.sleep(random.uniform(.1, .5))
            p = int(q.get("page", 1))
            return self.js(200, [f"Plate {p * 12 + i + 1}: view of the harbour" for i in range(12)])
        if path == "/d/count":
            time.sleep(random.uniform(.1, .3))
            return self.js(200, {"n": 40 + int(q.get("v", 0)) // 10 * 3})
        if path == "/d/crew":
            time.sleep(random.uniform(.1, .4))
            p = int(q.get("p", 1))
            return self.js(200, [[f"{200 + p * 4 + i}", random.Random(p * 9 + i).choice(["Ida", "Tom", "Lea", "Raj", "Kim", "Ole"]) + " " + random.Random(p * 5 + i).choice(["Berg", "Silva", "Novak", "Chen"])] for i in range(4)])
        if path.startswith("/srv/"):
            time.sleep(random.uniform(.03, .35))
            return self.srv(path[5:], q, f)
        if path == "/favicon.ico":
            return self.send(204)
        if path == "/":
            path = "/help/center.html"
        if path.endswith("/"):
            path += "index.html"
        fp = os.path.normpath(os.path.join(ROOT, path.lstrip("/")))
        if fp.startswith(ROOT + os.sep) and os.path.isfile(fp):
            time.sleep(random.uniform(.004, .06))
            with open(fp, encoding="utf-8") as h:
                return self.send(200, h.read(), TYPES.get(os.path.splitext(fp)[1], "application/octet-stream"))
        self.send(404, page("404", "<h1>404</h1><p>There is nothing at this address.</p>", "Not found"))

    def srv(self, p, q, f):
        m = self.command
        if p == "clinic/register":
            if m == "POST":
                name, no = f.get("name", "").strip(), f.get("number", "").strip()
                errs = []
                if len(name.split()) < 2:
                    errs.append("Please give your first and last name.")
                if not (no.isdigit() and len(no) == 10):
                    errs.append("An insurance number has ten digits.")
                if errs:
                    return self.send(422, clinic_form(name, no, errs))
                return self.go("/srv/clinic/part2", 303)
            return self.send(200, clinic_form())
        if p == "clinic/part2":
            return self.send(200, page("Registration", "<h1>Registration, part 2 of 3</h1><p>Which doctor would you like to see?</p><p><label><input type=radio name=d> Dr Amara Obi</label><br><label><input type=radio name=d> Dr Jens Holt</label></p><button>Continue</button>", "Lakeside Clinic"))
        if p == "coop/login":
            if m == "POST":
                if f.get("p") == "garden-77":
                    return self.go("/srv/coop/home", 303, [("Set-Cookie", "coop=1; Path=/")])
                return self.send(401, login_form(f.get("u", ""), True))
            return self.send(200, login_form())
        if p == "coop/home":
            if not self.cookie("coop"):
                return self.go("/srv/coop/login")
            return self.send(200, page("My flat", "<h1>Good morning, Noor</h1><h2>Flat 4B</h2><ul><li>Rent paid until 31 May</li><li>Laundry room: Thursday 18:00</li><li>1 open repair request</li></ul>", "Millbrook Housing Co-op"))
        if p == "uni/catalog":
            return self.go("/srv/uni/catalog/2031", 301)
        if p == "uni/catalog/2031":
            return self.go("/srv/uni/courses?term=autumn", 302)
        if p == "uni/courses":
            return self.send(200, page("Courses", "<h1>Courses, autumn term</h1><table><tr><th>Code<th>Title<th>Day</tr><tr><td>GEO 110<td>Rivers and coasts<td>Mon</tr><tr><td>HIS 204<td>Trade in the Baltic<td>Wed</tr><tr><td>BIO 150<td>Field botany<td>Fri</tr></table>", "Northmoor University"))
        if p == "uni/library":
            return self.send(503, page("Service unavailable", "<h1>503</h1><p>The library catalogue is down for maintenance. Please come back later.</p>", "Northmoor University"), head=[("Retry-After", "3600")])
        if p == "parts/k-200":
            return self.go("/parts/catalog.html?gone=K-200", 301)
        if p == "parts/stock.csv":
            return self.send(200, "part,qty\nK-100,14\nK-120,3\nK-150,0\n", "text/csv", [("Content-Disposition", 'attachment; filename="stock.csv"')])
        if p == "parts/sheet":
            return self.send(200, page("Data sheet K-120", "<h1>Data sheet K-120</h1><p>Length 120 mm, steel, load 40 kg.</p>", "Kessler Parts"))
        if p == "parish/minutes":
            return self.send(410, page("Link expired", "<h1>This download link has expired</h1><p>Links are good for 24 hours. Ask the clerk for a new one.</p>", "Parish of Elmstead"))
        if p == "parish/plan":
            time.sleep(random.uniform(22, 26))
            return self.send(200, page("Plan", "<h1>Village plan</h1>", "Parish of Elmstead"))
        if p == "radio/go":
            return self.send(200, page("One moment", "<p>Taking you to the archive&hellip;</p><meta http-equiv='refresh' content='1;url=/srv/radio/archive'>", "Radio Tern"))
        if p == "radio/archive":
            return self.send(200, page("Archive", "<h1>Programme archive</h1><ul><li>Harbour Nights, episode 41</li><li>Morning Letters, 12 March</li><li>The Long Wave, part 3</li></ul>", "Radio Tern"))
        if p == "fares/results":
            return self.send(403, page("Security check", "<h1>Just a moment</h1><p>We need to be sure that you are a person and not a robot. Type the letters shown in the picture.</p><svg width=180 height=60 style='background:#dde'><text x=20 y=40 font-size=30 font-style='italic'>xK7 qP</text></svg><p><input aria-label='Letters'> <button>Verify</button></p><p><small>Request id 8f2e-77</small></p>", "FareFinder"))
        if p == "chronicle/harbour":
            return self.send(200, page("Why the harbour wall is sinking", "<h1>Why the harbour wall is sinking</h1><p>For thirty years the engineers have measured the wall each spring, and each spring the figures&hellip;</p><div style='border:2px solid #444;padding:20px;text-align:center'><h2>This story is for subscribers</h2><p>Subscribe from 2 &euro; a week to read on.</p><button>Subscribe</button> <a href='#'>Already a subscriber? Log in</a></div>", "The Estuary Chronicle"))
        if p == "patents/find":
            i = int(self.cookie("pat") or 0)
            ck = [("Set-Cookie", f"pat={i + 1}; Path=/")]
            if i == 0:
                return self.send(429, page("Too many requests", "<h1>Too many requests</h1><p>Your network has sent many searches. Please wait a little and try again.</p><p><a id='again' href='/srv/patents/find?q=hinge'>Try again</a></p>", "Patent Register"), head=ck + [("Retry-After", "2")])
            return self.send(200, page("Results", "<h1>3 patents for &ldquo;hinge&rdquo;</h1><ol><li>EP 318 442: Self-closing hinge</li><li>EP 402 118: Hinge with damper</li><li>EP 511 907: Hidden hinge for cabinets</li></ol>", "Patent Register"), head=ck)
        if p == "patents/limit":
            return self.send(429, page("Slow down", "<h1>Daily limit reached</h1><p>Guests may open 20 documents a day. Your limit is used up; it is renewed at midnight.</p>", "Patent Register"))
        if p == "zeitung/artikel":
            return self.send(200, page("Hochwasser am Main", "<h1>Weiterlesen &ndash; mit Werbung oder im Pur-Abo</h1><p>Um diesen Inhalt zu sehen, stimmen Sie bitte der Verarbeitung Ihrer Daten durch uns und 214 Partner zu, oder schlie&szlig;en Sie ein Pur-Abo f&uuml;r 3,99 &euro; im Monat ab.</p><button>Akzeptieren und weiter</button> <button>Jetzt abonnieren</button>", "Mainbote", "de"))
        if p == "help/delete-account":
            return self.send(200, page("How to delete your account", "<h1>How to delete your account</h1><ol><li>Open Settings.</li><li>Choose Privacy.</li><li>Choose Delete account and type your password.</li></ol><p>All your lists are removed after 30 days.</p>", "Listly Help"))
        if p == "union/pay-2031":
            return self.send(200, page("Pay rates", "<h1>Pay rates from 1 April</h1><table><tr><td>Band 1<td>14.20 an hour</tr><tr><td>Band 2<td>15.85 an hour</tr><tr><td>Band 3<td>18.10 an hour</tr></table>", "Dockers' Union"))
        if p == "transfer/do" and m == "POST":
            return self.go("/srv/transfer/receipt", 303)
        if p == "transfer/receipt":
            return self.send(200, page("Receipt", "<h1>Money sent</h1><p>250.00 GBP went to R. Adeyemi at 10:42. Reference 77-1029.</p><p><a href='/transfer/review.html'>Another transfer</a></p>", "Thornbury Bank"))
        if p == "laden/bestellt" and m == "POST":
            return self.go("/srv/laden/danke", 303)
        if p == "laden/danke":
            return self.send(200, page("Vielen Dank", "<h1>Vielen Dank f&uuml;r Ihre Bestellung</h1><p>Bestellnummer 40-2217. 64,90 &euro; werden von Ihrem Konto abgebucht.</p>", "Hofladen Birkner", "de"))
        if p == "jp/done" and m == "POST":
            return self.send(200, page("ご注文完了", "<h1>ご注文ありがとうございました</h1><p>注文番号 5520-118。お支払い金額 4,800円。</p>", "みどり茶店", "ja"))
        if p == "frame/denied":
            return self.send(200, page("Map", "<h1>Map</h1>"), head=[("X-Frame-Options", "DENY")])
        if p == "club/find":
            t = q.get("page", "1")
            return self.send(200, page(f"Walks, page {t}", f"<h1>Walks, page {t} of 5</h1><ul>" + "".join(f"<li>Walk {int(t) * 10 + i}: {n}</li>" for i, n in enumerate(["Mill path", "Ridge round", "Two bridges", "Heron loop"])) + f"</ul><a id='nx' href='/srv/club/find?page={int(t) + 1}'>Next</a>", "Walking Club"))
        self.send(404, page("Page not found", "<h1>Page not found</h1><p>We looked everywhere. The page you asked for does not exist.</p>", "Not found"))


class S(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64


if __name__ == "__main__":
    other = S(("127.0.0.1", PORT2), H)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    print(f"{SELF} {OTHER}", flush=True)
    S(("127.0.0.1", PORT), H).serve_forever()
