#!/usr/bin/env python3
# ruff: noqa
# mypy: ignore-errors
# fmt: off
"""serve.py PORT [PORT2]: the pages, and the answers their scripts ask for. No state; standard library only."""
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
HANG = 45.0
OTHER = ""


def err_page(status, title, text, lang="en"):
    return ("<!doctype html><html lang=%s><head><meta charset=utf-8><title>%s</title>"
            "<style>body{font:16px Arial;margin:60px;color:#333}h1{font-size:26px}</style></head>"
            "<body><h1>%s</h1><p>%s</p></body></html>" % (lang, title, title, text))


MAIL = {
    "1": ("Marek (Suppliers)", "Quote for 400 brackets", "We can do 400 pieces at 2.15 each, delivery in three weeks."),
    "2": ("City Library", "Your hold is ready", "Please collect it at the front desk by Friday."),
    "3": ("Ines Duarte", "Re: Thursday agenda", "Can we move the budget item to the end? I join at 10:30."),
    "4": ("Railpass", "Receipt 20418", "Thank you for travelling with us."),
    "5": ("Tom B.", "photos", "See attached!"),
}


class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "nginx"
    sys_version = ""

    def log_message(self, *a):
        pass

    def out(self, status, body=b"", ctype="application/json", headers=()):
        if isinstance(body, (dict, list)):
            body = json.dumps(body, ensure_ascii=False)
        if isinstance(body, str):
            body = body.encode()
        try:
            self.send_response(status)
            if status != 204:
                self.send_header("Content-Type", ctype + ("; charset=utf-8" if ctype.startswith(("text/", "application/json")) else ""))
            if status != 204:
                self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            for k, v in headers:
                self.send_header(k, v)
            self.end_headers()
            if self.command != "HEAD" and status != 204:
                self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def html(self, status, text, headers=()):
        self.out(status, text, "text/html", headers)

    def page(self, path):
        if path.startswith("/spa/app/"):
            path = "/spa/app.html"
        if path == "/":
            path = "/docs/guide.html"
        full = os.path.normpath(os.path.join(ROOT, unquote(path).lstrip("/")))
        if full.startswith(ROOT + os.sep) and os.path.isfile(full):
            with open(full, encoding="utf-8") as f:
                return self.html(200, f.read().replace("{{OTHER}}", OTHER))
        if path == "/favicon.ico":
            return self.out(204)
        if path.startswith("/intranet/"):
            return self.html(404, err_page(404, "Seite nicht gefunden", "Das angeforderte Dokument ist nicht (mehr) vorhanden. Fehlercode 404.", "de"))
        if path.startswith("/news-fr/"):
            return self.html(404, err_page(404, "Page introuvable", "La page demandée n’existe pas ou plus.", "fr"))
        return self.html(404, err_page(404, "404 Not Found", "The requested URL was not found on this server."))

    def handle_any(self):
        u = urlsplit(self.path)
        n = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(n) if n else b""
        if not u.path.startswith("/api/"):
            time.sleep(random.uniform(0.0, 0.06))
            return self.page(u.path)
        q = {k: v[0] for k, v in parse_qs(u.query).items()}
        try:
            body = json.loads(raw) if raw[:1] == b"{" else {}
        except ValueError:
            body = {}
        form = {k: v[0] for k, v in parse_qs(raw.decode("utf-8", "replace")).items()} if "urlencoded" in (self.headers.get("Content-Type") or "") else {}
        self.api(self.command, u.path[5:], q, body, form)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = handle_any

    def hang(self):
        time.sleep(HANG)
        self.out(504, {"error": "gateway timeout"})

    def api(self, m, p, q, b, form):
        if p in ("voos/busca", "people/search", "archief/aanvraag", "ondea/options"):
            return self.hang()
        time.sleep(random.uniform(0.05, 0.9) if random.random() < .85 else random.uniform(0.05, 0.2))
        c = SimpleCookie(self.headers.get("Cookie") or "")
        if p == "cart/add":
            k = int(c["cart"].value) + 1 if "cart" in c and c["cart"].value.isdigit() else 1
            return self.out(200, {"count": k}, headers=[("Set-Cookie", "cart=%d; Path=/" % k)])
        if p == "cart/qty":
            return self.out(200, {"ok": True})
        if p == "wish":
            return self.out(500, {"error": "internal"})
        if p == "coupon":
            code = str(b.get("code", "")).strip().upper()
            if code == "SOMMER10":
                return self.out(200, {"code": code})
            return self.out(422, {"message": "Dieser Gutscheincode ist ungültig oder abgelaufen."})
        if p == "order":
            return self.out(201, {"id": "BW-2025-88213"})
        if p == "mail/list":
            return self.out(200, [])
        if p == "mail/trash":
            return self.out(200, {"deleted": 17})
        if p in ("mail/archive", "mail/draft", "zh/feedback", "pay/gift", "jobs/draft", "grid/region"):
            return self.out(200, {"ok": True})
        if p == "mail/send":
            return self.out(202, {"queued": True})
        if p.startswith("mail/") and p[5:] in MAIL:
            f, s, t = MAIL[p[5:]]
            return self.out(200, {"from": f, "subject": s, "body": t})
        if p.startswith("gazette/article/"):
            return self.out(402, {"reason": "abonnes"})
        if p == "forum/session":
            return self.out(401, {"error": "not logged in"})
        if p == "tickets/enter":
            return self.out(302, b"", "text/html", [("Location", "/tickets/queue.html?e=" + q.get("e", "0")), ("Set-Cookie", "q=14203; Path=/")])
        if p == "jp/suggest":
            return self.out(200, {"items": [q.get("q", "") + s for s in ("　渋谷", "　新宿", "　ランチ", "　個室")]})
        if p == "jp/hours":
            return self.out(200, {"text": "月〜土 11:30〜22:00、日曜定休"})
        if p == "jp/search":
            return self.out(403, {"challenge": True})
        if p == "dev/keys":
            return self.out(429, {"error": "Rate limit exceeded for this account. Try again in 58 minutes."}, headers=[("Retry-After", "3480")])
        if p.startswith("dev/keys/"):
            return self.out(204)
        if p == "intranet/gehaltslisten":
            return self.html(403, err_page(403, "Zugriff verweigert", "Sie verfügen nicht über die erforderliche Berechtigung, um diese Seite anzuzeigen. Wenden Sie sich an die Personalabteilung.", "de"))
        if p == "grid/incidents":
            return self.out(200, ["08:14 Breaker trip, feeder 7, restored 08:31", "06:02 Telemetry gap, substation Elm", "02:40 Planned switching, ring B"])
        if p == "grid/ack":
            return self.out(503, {"error": "unavailable"})
        if p == "spa/plans":
            return self.out(200, [{"n": "Solo", "p": "€9"}, {"n": "Team", "p": "€29"}, {"n": "Office", "p": "€79"}])
        if p.startswith("prefs/"):
            return self.out(500 if p.endswith("beta") else 200, {"ok": not p.endswith("beta")})
        if p == "seguros/precio":
            cp = str(b.get("cp", ""))
            if not (cp.isdigit() and len(cp) == 5) or not b.get("tipo"):
                return self.out(422, {"mensaje": "Revisa los datos: el código postal debe tener 5 cifras."})
            return self.out(200, {"precio": "148,20 €"})
        if p == "hotel/disp":
            return self.out(200, {"camere": ["Doppia 112 €", "Suite 190 €"]})
        if p == "bord/verplaats":
            return self.out(409, {"fout": "vergrendeld"}) if b.get("to") == "done" else self.out(200, {"ok": True})
        if p == "ogl":
            return self.out(200, {"od": q.get("od")})
        if p == "ogl/alert":
            mail = str(b.get("mail", ""))
            if "@" in mail and "." in mail.split("@")[-1]:
                return self.out(201, {"ok": True})
            return self.out(422, {"blad": "Podaj poprawny adres e-mail."})
        if p == "zh/track":
            no = q.get("no", "")
            if no.startswith("SF") and len(no) == 12:
                return self.out(200, {"msg": "已到达广州转运中心，预计明天送达。"})
            return self.out(404, {"msg": "未找到该运单号，请核对后重试。"})
        if p == "banka/eft":
            return self.out(200, {"dekont": "5520-981"})
        if p == "jobs/cv":
            name = q.get("name", "")
            if name.lower().endswith((".pdf", ".docx")):
                return self.out(201, {"name": name})
            return self.out(415, {"error": "This file type is not supported. Please upload a PDF or DOCX file."})
        if p == "reports/sales-q1.csv":
            return self.out(200, "region,revenue\nNorth,120400\nSouth,98210\nEast,77055\n", "text/csv", [("Content-Disposition", 'attachment; filename="sales-q1.csv"')])
        if p == "reports/headcount-04.xlsx":
            return self.html(404, err_page(404, "File not found", "The report headcount-04.xlsx has been removed or its link has expired."))
        if p == "reports/turns.csv":
            return self.html(500, err_page(500, "500 Internal Server Error", "The server encountered an unexpected condition."))
        if p == "reports/bundle":
            return self.out(202, {"job": "b71"})
        if p.startswith("reports/job/"):
            return self.out(200, {"state": "queued"})
        if p == "docs/test":
            return self.out(200, {"message": "test event delivered to your sandbox"})
        if p == "repo/rename":
            if b.get("name") in ("timetable", "ferry", ""):
                return self.out(422, {"message": "The name is already in use on this account."})
            return self.out(200, {"message": "Repository renamed."})
        if p == "repo/branch":
            return self.out(200, {"message": "Default branch updated."})
        if p.startswith("repo/") and m == "DELETE":
            return self.out(200, {"deleted": True})
        if p == "people/org":
            return self.out(500, {"error": "tree service"})
        if p == "lib/renew":
            if int(b.get("n", 0)) >= 3:
                return self.out(409, {"message": "This item cannot be renewed again (limit of 3 renewals reached)."})
            return self.out(200, {"message": "Renewed. New due date 2025-06-11.", "due": "2025-06-11"})
        if p == "ondea/facture":
            return self.out(200, {"forfait": "12,99 €", "hors": "0,00 €", "total": "12,99 €"})
        if p == "ondea/resiliation":
            return self.out(200, {"ok": True})
        if p == "social/post":
            return self.out(201, {"id": 99120})
        if p == "social/follow/1":
            return self.out(200, {"ok": True})
        if p == "social/follow/2":
            return self.out(502, {"error": "bad gateway"})
        if p == "pay/token":
            d = "".join(x for x in str(b.get("num", "")) if x.isdigit())
            ok = len(d) == 16 and sum(int(x) if i % 2 else sum(divmod(int(x) * 2, 10)) for i, x in enumerate(d)) % 10 == 0
            return self.out(200, {"last4": d[-4:]}) if ok else self.out(422, {"error": "Your card number is invalid."})
        if p == "clinic/hold":
            return self.out(409, {"error": "taken"}) if q.get("t") == "0930" else self.out(200, {"held": 600})
        if p == "clinic/later":
            return self.out(200, {"day": "Thursday 22 May", "slots": ["08:40", "10:10", "15:30"]})
        if p == "login":
            ok = form.get("u") == "demo@trailhead.example" and form.get("p") == "trail-2025"
            if ok:
                return self.out(303, b"", "text/html", [("Location", "/login/home.html"), ("Set-Cookie", "sid=demo; Path=/; HttpOnly")])
            return self.out(303, b"", "text/html", [("Location", "/login/signin.html?bad=1")])
        if p == "archief/zoek":
            return self.html(429, err_page(429, "Te veel verzoeken", "U heeft het maximumaantal zoekopdrachten voor bezoekers bereikt. Probeer het morgen opnieuw.", "nl"))
        return self.out(404, {"error": "no such endpoint"})


class S(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass


def main():
    global OTHER
    p1 = int(sys.argv[1])
    p2 = int(sys.argv[2]) if len(sys.argv) > 2 else p1 + 1
    OTHER = "http://localhost:%d" % p2
    a, z = S(("127.0.0.1", p1), H), S(("127.0.0.1", p2), H)
    threading.Thread(target=z.serve_forever, daemon=True).start()
    try:
        a.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
