/* Brings the parts of a page that are marked data-live up to date from the same page, fetched
   again. Forms are never touched: parts marked data-shown are only shown or hidden. */

const main = document.getElementById("main");
const status = document.getElementById("status");
const HIDDEN = 30_000; // between two checks while nobody sees the page
const OVER = new Set(["done", "failed"]);

let timer = 0;
let failures = 0;
let resting = false;

/** Show a message for a few seconds, or until the next one. */
export function say(text, ms = 4000) {
  status.textContent = text;
  if (ms) setTimeout(() => status.textContent === text && (status.textContent = ""), ms);
}

function swap(old, fresh) {
  if (old.innerHTML === fresh.innerHTML) return;
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  const open = [...old.querySelectorAll("details")].map((one) => one.open);
  const scrolled = [window.scrollX, window.scrollY];
  old.replaceChildren(...fresh.childNodes);
  old.querySelectorAll("details").forEach((one, place) => (one.open = open[place] ?? one.open));
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  window.scrollTo(...scrolled);
}

function show(old, hidden) {
  if (old.hidden === hidden || (hidden && old.querySelector("[data-busy]"))) return;
  if (hidden && old.contains(document.activeElement)) main.focus({ preventScroll: true });
  old.hidden = hidden;
  if (!hidden) old.querySelectorAll("[data-done], #upload-said").forEach((one) => (one.textContent = ""));
}

function signedOut() {
  say("You are no longer signed in: the token has expired or was revoked.", 0);
  return false;
}

/** Fetch the page and show what changed; true if it could be fetched. */
export async function refresh() {
  const answer = await fetch(location.href, { cache: "no-store" });
  if (answer.status === 401) return signedOut();
  if (answer.status === 404) {
    say("This exchange is no longer there: the operator has deleted it.", 0);
    return false;
  }
  if (!answer.ok) throw new TypeError(`status ${answer.status}`);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const now = fresh.getElementById("main").dataset;
  if (!now.poll) return signedOut(); // the sign-in page
  for (const old of document.querySelectorAll("[data-live]")) {
    const other = fresh.getElementById(old.id);
    if (other) swap(old, document.adoptNode(other));
  }
  for (const old of document.querySelectorAll("[data-shown]")) {
    const other = fresh.getElementById(old.id);
    if (other) show(old, other.hidden);
  }
  main.dataset.stage = now.stage;
  return true;
}

async function look() {
  clearTimeout(timer);
  if (resting) return;
  try {
    if (!(await refresh())) return;
    if (failures) say("");
    failures = 0;
  } catch {
    failures += 1;
    say("The unit does not answer; trying again.", 0);
  }
  plan();
}

function plan() {
  clearTimeout(timer);
  if (resting || OVER.has(main.dataset.stage)) return;
  const wait = Number(main.dataset.poll);
  const next = document.hidden ? HIDDEN : Math.min(wait * 2 ** failures, HIDDEN);
  timer = setTimeout(look, next);
}

/** Check regularly, until the exchange has ended. */
export function watch() {
  if (!main.dataset.poll) return;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || OVER.has(main.dataset.stage)) plan();
    else look();
  });
  plan();
}

/** Stop checking while the page's subject may be removed, or check again. */
export function rest(whether) {
  resting = whether;
  plan();
}

/** Check at once, after something was done here, and keep checking. */
export function lookNow() {
  return main.dataset.poll ? look() : Promise.resolve();
}
