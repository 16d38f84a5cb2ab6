/* Sends a file in slices, and resumes where the unit says it stopped. */

import { call, Refused } from "./api.js";
import { digest } from "./sha256.js";

export const SLICE = 4 * 2 ** 20;
const ATTEMPTS = 6;

const pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

// a broken connection, a slow one, and an earlier request that the unit has not given up yet
const passes = (error) =>
  error instanceof TypeError ||
  (error instanceof Refused && (error.status === 408 || error.status === 409 || error.status >= 500));

/** Send a file; `said` hears the stage ("reading" or "sending") and the bytes done. */
export async function upload(url, file, said, signal) {
  const sha256 = await digest(file, SLICE, (done) => said("reading", done), signal);
  const announce = async () =>
    (await call("POST", url, { json: { size: file.size, sha256 }, signal })).offset;
  let offset = await announce();
  let failures = 0;
  while (offset < file.size) {
    said("sending", offset);
    try {
      const body = file.slice(offset, offset + SLICE);
      const type = "application/octet-stream";
      const answer = await call("PATCH", `${url}?offset=${offset}`, { body, type, signal });
      offset = answer.offset;
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!passes(error) || failures >= ATTEMPTS || signal.aborted) throw error;
      await pause(250 * 2 ** failures, signal);
      offset = Number.isInteger(error.offset) ? error.offset : await resumed(announce, offset);
    }
  }
  said("sending", offset);
}

/** Where the unit says to resume or, if it does not answer, where we think we are. */
async function resumed(announce, offset) {
  try {
    return await announce();
  } catch (error) {
    if (error instanceof TypeError) return offset;
    throw error;
  }
}
