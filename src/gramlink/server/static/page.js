/* What the forms and buttons of the pages do. */

import { call, words } from "./api.js";
import { lookNow, rest, say, watch } from "./live.js";
import { upload } from "./upload.js";

const byId = (id) => document.getElementById(id);
const main = byId("main");

/** Do something for a form or section, and show in it what went wrong. */
async function attempt(place, action) {
  const said = place.querySelector("[data-said]");
  said.hidden = true;
  said.textContent = "";
  const buttons = [...place.querySelectorAll("button:not(:disabled, #upload-cancel)")];
  const focused = document.activeElement;
  buttons.forEach((button) => (button.disabled = true));
  try {
    await action();
    return true;
  } catch (error) {
    said.hidden = false;
    said.textContent = words(error);
    return false;
  } finally {
    buttons.forEach((button) => (button.disabled = false));
    // a disabled button loses the focus, which would send keyboard users back to the start
    if (document.activeElement === document.body) focused?.focus?.();
  }
}

function onSubmit(form, action) {
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(form, () => action(form));
  });
}

function save(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text); // only available over HTTPS and on this machine
  } catch {
    const field = document.createElement("textarea");
    field.className = "unseen";
    field.value = text;
    document.body.append(field);
    const focused = document.activeElement;
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    focused?.focus();
    if (!copied) return say("This cannot be copied automatically; select it and copy it by hand.");
  }
  return say("Copied.");
}

/* tokens */

function showTokens(exchange, tokens) {
  const options = "--token-file PARTY.token data.csv --schema linkage.toml";
  const command = `gramlink exchange ${location.origin} ${options}`;
  const section = byId("tokens-shown");
  byId("tokens").replaceChildren(
    ...Object.entries(tokens).map(([party, token]) => {
      const row = byId("token-row").content.cloneNode(true);
      row.querySelector("[data-party]").textContent = party;
      row.querySelector("[data-token]").textContent = token;
      const [copies, saves] = row.querySelectorAll("button");
      copies.dataset.copy = token;
      copies.setAttribute("aria-label", `Copy the token of ${party}`);
      saves.dataset.save = `${token}\n`;
      saves.dataset.file = `${party}.token`;
      saves.setAttribute("aria-label", `Save the token of ${party} as a file`);
      return row;
    }),
  );
  section.querySelector("[data-command]").textContent = command;
  section.querySelector(".command button").dataset.copy = command;
  const link = section.querySelector("[data-exchange-link]");
  link.href = `/exchanges/${encodeURIComponent(exchange)}`;
  link.parentElement.hidden = main.dataset.exchange === exchange;
  section.hidden = false;
  byId("tokens-title").focus();
}

async function newToken(button) {
  const party = button.dataset.newToken;
  const text = `The present token of ${party} stops working. The new one is shown once, and is valid for 90 days.`;
  if (!(await ask(`New token for ${party}?`, text, "Make a new token"))) return;
  await attempt(button.closest("section"), async () => {
    const made = await call("POST", `${main.dataset.path}/tokens`, { json: { party, days: 90 } });
    showTokens(main.dataset.exchange, { [party]: made.token });
    await lookNow();
  });
}

async function revoke(button) {
  const party = button.dataset.revoke;
  const text = `${party} cannot sign in or send anything until it gets a new token.`;
  if (!(await ask(`Revoke the token of ${party}?`, text, "Revoke"))) return;
  await attempt(button.closest("section"), async () => {
    await call("DELETE", `${main.dataset.path}/tokens/${encodeURIComponent(party)}`);
    say(`The token of ${party} is revoked.`);
    await lookNow();
  });
}

async function withdraw(button) {
  const text = "The unit erases it. You can send the same file again, until all parties have sent theirs.";
  if (!(await ask("Withdraw your bundle?", text, "Withdraw"))) return;
  await attempt(button.closest("section"), async () => {
    await call("DELETE", `${main.dataset.path}/bundle`);
    say("Your bundle is withdrawn.");
    await lookNow();
  });
}

/** Whether a person says yes to a question. */
function ask(title, text, yes) {
  const dialog = byId("ask");
  byId("ask-title").textContent = title;
  byId("ask-text").textContent = text;
  byId("ask-yes").textContent = yes;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

/* a new exchange */

function addParty() {
  const list = document.querySelector("#parties ol");
  list.append(byId("party-row").content.cloneNode(true));
  numberParties(list);
  return list.lastElementChild;
}

function numberParties(list) {
  [...list.children].forEach((row, place, rows) => {
    row.querySelector("input").setAttribute("aria-label", `Name of party ${place + 1}`);
    row.querySelector("select").setAttribute("aria-label", `What party ${place + 1} gets`);
    row.querySelector("button").setAttribute("aria-label", `Remove party ${place + 1}`);
    row.querySelector("button").disabled = rows.length <= 2;
  });
}

async function makeExchange(form) {
  const rows = [...form.querySelectorAll("#parties li")].map((row) => [
    row.querySelector("input").value.trim(),
    row.querySelector("select").value,
  ]);
  const made = await call("POST", "/api/exchanges", {
    json: {
      name: form.elements.name.value,
      schema: form.elements.schema.value,
      parties: rows.map(([party]) => party),
      returns: Object.fromEntries(rows),
      token_days: Number(form.elements.days.value),
    },
  });
  form.reset();
  showTokens(made.name, made.tokens);
  await lookNow();
}

/* a party's files */

async function put(form) {
  const file = form.elements.file.files[0];
  const text = form.elements.text?.value.trim();
  if (!file && !text) throw new Error("Choose a file first.");
  if (form.dataset.kind === "recipient") {
    const body = recipient(text || (await file.text()));
    await call("PUT", form.dataset.put, { body, type: "text/plain" });
  } else {
    await call("PUT", form.dataset.put, { body: file, type: "application/octet-stream" });
  }
  form.reset();
  form.querySelector("[data-done]").textContent = "Sent.";
  await lookNow();
}

/** The key in a recipient file. An identity is secret, and must not leave this machine. */
function recipient(text) {
  if (/AGE-SECRET-KEY/i.test(text)) {
    throw new Error("This is your identity, which is secret. It was not sent. Choose the .recipient file.");
  }
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const keys = lines.filter((line) => line && !line.startsWith("#"));
  if (keys.length !== 1 || !keys[0].startsWith("age1")) {
    throw new Error("This is not a recipient file. `gramlink keys new` writes one.");
  }
  return keys[0];
}

async function sendBundle(form) {
  const file = form.elements.file.files[0];
  if (!file) throw new Error("Choose the bundle first.");
  const bar = byId("upload-progress");
  const cancel = byId("upload-cancel");
  const said = byId("upload-said");
  const control = new AbortController();
  cancel.onclick = () => control.abort();
  cancel.hidden = bar.hidden = false;
  form.dataset.busy = "";
  const mebibytes = (count) => (count / 2 ** 20).toFixed(1);
  try {
    await upload(
      form.dataset.upload,
      file,
      (stage, done) => {
        bar.max = file.size;
        bar.value = done;
        const what = stage === "reading" ? "Reading the file" : "Sending";
        said.textContent = `${what}: ${mebibytes(done)} of ${mebibytes(file.size)} MiB`;
      },
      control.signal,
    );
    said.textContent = "Sent. The unit is checking it.";
    form.reset();
  } catch (error) {
    said.textContent = "What has arrived is kept: choose the same file to resume.";
    throw error;
  } finally {
    delete form.dataset.busy;
    cancel.hidden = bar.hidden = true;
    lookNow();
  }
}

async function saveUnit() {
  try {
    const { recipient: key } = await call("GET", "/api/unit");
    save(`# recipient of the linkage unit: for all to know\n${key}\n`, "unit.recipient");
  } catch (error) {
    say(words(error));
  }
}

/* wiring */

document.addEventListener("click", (event) => {
  const button = event.target.closest("button, a");
  if (!button) return;
  const { copy: text, save: content, file } = button.dataset;
  if (text) copy(text);
  else if (content) save(content, file);
  else if ("saveUnit" in button.dataset) {
    saveUnit();
  } else if (button.dataset.newToken) newToken(button);
  else if (button.dataset.revoke) revoke(button);
  else if ("withdraw" in button.dataset) withdraw(button);
  else if ("remove" in button.dataset) {
    const list = button.closest("ol");
    button.closest("li").remove();
    numberParties(list);
    byId("add-party").focus();
  } else if ("close" in button.dataset) button.closest("dialog").close();
  else if (button.id === "fetch-results") setTimeout(lookNow, 1500);
});

onSubmit(byId("new-exchange"), makeExchange);
onSubmit(byId("upload"), sendBundle);
document.querySelectorAll("form[data-put]").forEach((form) => onSubmit(form, put));

if (byId("new-exchange")) {
  addParty();
  addParty();
  byId("add-party").addEventListener("click", () => addParty().querySelector("input").focus());
  byId("schema-file").addEventListener("change", async (event) => {
    if (event.target.files[0]) byId("schema").value = await event.target.files[0].text();
  });
}

const fingerprint = document.querySelector("[data-unit-fingerprint]");
if (fingerprint) {
  call("GET", "/api/unit").then(
    (unit) => (fingerprint.textContent = unit.fingerprint),
    () => (fingerprint.textContent = "not known: the unit does not answer"),
  );
}

if (byId("delete")) {
  const dialog = byId("delete-dialog");
  const typed = byId("delete-name");
  byId("delete").addEventListener("click", () => {
    typed.value = "";
    byId("delete-yes").disabled = true;
    dialog.showModal();
    typed.focus();
  });
  typed.addEventListener("input", () => {
    byId("delete-yes").disabled = typed.value.trim() !== main.dataset.exchange;
  });
  onSubmit(dialog.querySelector("form"), async () => {
    if (typed.value.trim() !== main.dataset.exchange) throw new Error("This is not the exchange's name.");
    rest(true);
    try {
      await call("DELETE", main.dataset.path);
    } catch (error) {
      rest(false);
      throw error;
    }
    location.assign("/");
  });
}

watch();
