"""The site of the documents (make site): each page is in it and is found by a search, each link between pages and to a heading leads
somewhere, nothing is loaded from elsewhere, and no page is wider than a phone."""
import functools
import html.parser
import http.server
import json
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / folder) for folder in ("dist/site", "tests", "tests/dist")]
import kept_files  # noqa: E402
import make as site  # noqa: E402
from test_outside_judges import CHROMIUM  # noqa: E402

# Each page in a frame, one after the other; those that are wider than their frame are told to the server, with what a search finds.
WIDTHS = """<!doctype html><body><script>const pages = %s, wide = []
addEventListener("load", async () => {
  const frame = document.body.appendChild(document.createElement("iframe"))
  for (const width of [360, 768, 1280]) for (const page of pages) {
    frame.style = `width:${width}px;height:800px;border:0`
    await new Promise(done => { frame.onload = done; frame.src = page })
    const found = frame.contentDocument.scrollingElement.scrollWidth
    if (!(found <= width)) wide.push(`${page} at ${width}: ${found}`)
  }
  frame.src = "search.html?q=worth"
  let found = []
  while (!found.length) {
    await new Promise(done => setTimeout(done, 100))
    found = [...frame.contentDocument.querySelectorAll("#mkdocs-search-results a")].map(a => a.getAttribute("href"))
  }
  fetch("told", {method: "POST", body: JSON.stringify([wide, found])})
})</script>"""


class Page(html.parser.HTMLParser):
    """Where a page's links lead, what it loads, and what can be led to in it."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.add(attrs.get("id"))
        if attrs.get("href") is not None:
            (self.links if tag == "a" else self.loads).append(attrs["href"])
        if attrs.get("src"):
            self.loads.append(attrs["src"])


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.pages, cls.out = pathlib.Path(folder.name, "pages"), pathlib.Path(folder.name, "site")
        site.stage(cls.pages)
        cls.why = None
        try:
            said = site.build(cls.pages, cls.out)
        except (kept_files.Missing, OSError, subprocess.TimeoutExpired) as why:
            cls.why = str(why)
            return
        assert not said, said
        cls.made = {path.relative_to(cls.out).as_posix(): Page(path) for path in sorted(cls.out.rglob("*.html"))}

    def setUp(self):
        if self.why:
            self.skipTest(self.why)

    def test_each_document_is_a_page_that_can_be_searched(self):
        found = {entry["location"].partition("#")[0] for entry in json.loads((self.out / "search/search_index.json").read_text())["docs"]}
        for path in self.pages.rglob("*.md"):
            name = path.relative_to(self.pages).with_suffix(".html").as_posix().replace("README", "index")
            self.assertIn(name, self.made)
            self.assertIn(name, found)

    def test_lists_are_lists(self):
        """mkdocs takes four spaces for what goes on in an item, GitHub two; both take four."""
        for name in self.made:
            for paragraph in re.findall(r"<p>(.*?)</p>", (self.out / name).read_text(encoding="utf-8"), re.S):
                self.assertNotRegex(paragraph, r"(?m)^(?:- |\d\. )", name)

    def test_each_link_leads_somewhere(self):
        seen = 0
        for name, page in self.made.items():
            self.assertEqual([], [link for link in page.loads if urllib.parse.urlparse(link).netloc], name)
            for link in page.links + page.loads:
                to = urllib.parse.urlparse(link)
                if to.scheme or to.netloc or name == "404.html":
                    continue
                target = (self.out / name).parent.joinpath(urllib.parse.unquote(to.path)).resolve() if to.path else self.out / name
                with self.subTest(page=name, link=link):
                    self.assertTrue(target.is_file())
                    if to.fragment and target.suffix == ".html":
                        self.assertIn(urllib.parse.unquote(to.fragment), self.made[target.relative_to(self.out.resolve()).as_posix()].ids)
                seen += 1
        self.assertGreater(seen, 1000)

    def test_a_planted_fault_is_found(self):
        for link, words in (("no-such.md", "target 'docs/no-such.md' is not found"), ("diag.md#no-such", "does not contain an anchor '#no-such'"),
                            ("reference", "unrecognized relative link 'reference'")):
            with tempfile.TemporaryDirectory() as folder:
                pages = pathlib.Path(folder, "pages")
                shutil.copytree(self.pages, pages)
                with open(pages / "docs/start.md", "a", encoding="utf-8") as page:
                    page.write("\n[planted](%s)\n" % link)
                self.assertIn(words, site.build(pages, pathlib.Path(folder, "site")))

    @unittest.skipUnless(shutil.which("chromium"), "no browser")
    def test_in_a_browser(self):
        told = queue.Queue()

        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_POST(self):
                told.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def log_message(self, *_):
                pass
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=self.out)) as server:
            server.handle_error = lambda *_: None  # a browser that is ended leaves half an answer
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.shutdown)

            def looked_at(pages):
                (self.out / "widths.html").write_text(WIDTHS % json.dumps(pages), encoding="utf-8")
                words = [word for word in CHROMIUM if word not in ("--dump-dom", "--virtual-time-budget=20000")]
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
                    browser = subprocess.Popen([*words, "--user-data-dir=" + profile, "http://127.0.0.1:%d/widths.html" % server.server_port],
                                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    try:
                        return told.get(timeout=120)
                    finally:
                        browser.terminate()
                        browser.wait()
            wide, found = looked_at([name for name in self.made if name != "404.html"])
            self.assertEqual([], wide)
            self.assertIn("./docs/security.html#what-a-token-is-worth", found)
            page = self.out / "docs/start.html"
            page.write_text(page.read_text(encoding="utf-8").replace("</h1>", '</h1><pre style="width:900px">planted</pre>'), encoding="utf-8")
            self.assertEqual(["docs/start.html at 360", "docs/start.html at 768"], [line.partition(":")[0] for line in looked_at(["docs/start.html"])[0]])


if __name__ == "__main__":
    unittest.main()
