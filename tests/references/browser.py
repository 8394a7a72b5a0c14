"""A headless browser for pages: Playwright with the system's Chromium, if both are installed."""

import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def opened(path, width=1400, scheme="light", script=True, media="screen"):
    """Open a page: yield (page, console messages and errors, requested addresses). Skip without a browser."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no browser: pip install playwright")
    binary = next(filter(None, map(shutil.which, NAMES)), None)
    if binary is None:
        pytest.skip("no browser: install chromium")
    messages, addresses = [], []
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script
        )
        page = context.new_page()
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda request: addresses.append(request.url))
        page.emulate_media(media=media, color_scheme=scheme)
        page.goto(path.as_uri())
        yield page, messages, addresses
        browser.close()


CONTRAST = """() => {
  const light = (c) => {
    const f = c.map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
    return .2126 * f[0] + .7152 * f[1] + .0722 * f[2]; };
  const parse = (s) => (s.match(/[\\d.]+/g) || []).map(Number);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c; } return [255, 255, 255]; };
  let worst = [99, ""];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length || e.closest("svg, .skip")) continue;
    const a = light(parse(getComputedStyle(e).color)), b = light(ground(e));
    const c = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (c < worst[0]) worst = [c, e.outerHTML.slice(0, 120)];
  }
  return worst;
}"""  # the least contrast of any text with its ground (WCAG 2), and where


def least_contrast(page):
    """Return (ratio, element) of the text with the least contrast."""
    return tuple(page.evaluate(CONTRAST))


def is_wider_than_the_window(page):
    return page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
