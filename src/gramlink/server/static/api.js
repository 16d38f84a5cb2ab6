/* Calls to the unit's API; the page's cookie says who is calling. */

/** What the unit says when it refuses: what happened, and what to do. */
export class Refused extends Error {
  constructor(status, body) {
    super([body.error ?? `The unit answered with status ${status}.`, body.hint].filter(Boolean).join(" – "));
    this.status = status;
    this.offset = body.offset;
  }
}

/** The JSON of an answer, or null if it has none; raises Refused, or TypeError without a line. */
export async function call(method, url, { json, body, type, signal } = {}) {
  const headers = {};
  if (json !== undefined) {
    body = JSON.stringify(json);
    type = "application/json";
  }
  if (type) headers["Content-Type"] = type;
  const answer = await fetch(url, { method, headers, body, signal, cache: "no-store" });
  const content = (await answer.text()).trim();
  let said = null;
  try {
    said = content ? JSON.parse(content) : null;
  } catch {
    said = {};
  }
  if (!answer.ok) throw new Refused(answer.status, said ?? {});
  return said;
}

/** An error in words for a person. */
export function words(error) {
  if (error instanceof Refused) return error.message;
  if (error.name === "AbortError") return "Cancelled.";
  if (error instanceof TypeError) return "The unit does not answer. Check the connection and try again.";
  if (error.name === "NotReadableError") return "The file cannot be read, or has changed since it was chosen.";
  return error.message;
}
