// A reporter for `node --test` that writes one line of JSON for each test into a pipe of its own.
//
// The reporters that come with Node do not say in which file a test is, and not why a file could not be loaded.
// The first line is a key that all others repeat, the last one counts the others: a run that was cut short cannot
// be taken for a whole one. It runs beside the tests, in the process that starts theirs, and none of them gets the
// pipe, because Node lets no process that it starts have what it was given itself.

import { randomUUID } from "node:crypto";
import { closeSync, writeSync } from "node:fs";

const LONGEST = 20_000;
const pipe = Number(process.env.AMELIA_REPORT);
const key = randomUUID();
delete process.env.AMELIA_REPORT;
write({});

export default async function* report(events) {
  const open = new Map(); // file -> names of the tests around the current one
  const errors = new Map(); // file -> what it wrote to stderr
  let count = 0;
  for await (const { type, data } of events) {
    const file = data?.file ?? null;
    if (type === "test:stderr") {
      errors.set(file, ((errors.get(file) ?? "") + data.message).slice(-LONGEST));
    } else if (type === "test:start") {
      open.set(file, [...(open.get(file) ?? []).slice(0, data.nesting), data.name]);
    } else if (type === "test:pass" || type === "test:fail") {
      const failed = type === "test:fail";
      const cause = data.details?.error?.failureType;
      // A group has no result of its own, unless something outside its tests failed.
      if (data.details?.type === "suite" && (!failed || cause === "subtestsFailed")) continue;
      const isFile = data.nesting === 0 && data.name === file;
      const around = (open.get(file) ?? []).slice(0, data.nesting);
      count += 1;
      write({
        file,
        names: isFile ? [] : [...around, data.name].map(wellFormed),
        status: statusOf(data, failed, isFile),
        message: failed ? wellFormed(messageOf(data, isFile ? errors.get(file) : undefined)) : "",
      });
    }
  }
  write({ end: count });
  closeSync(pipe);
}

function write(line) {
  let rest = Buffer.from(JSON.stringify({ key, ...line }) + "\n");
  while (rest.length > 0) rest = rest.subarray(writeSync(pipe, rest));
}

function wellFormed(text) {
  return Buffer.from(String(text)).toString(); // halves of characters are none
}

function statusOf(data, failed, isFile) {
  if (data.skip !== undefined || data.todo !== undefined) return "skipped";
  if (failed) return isFile ? "error" : "failed";
  return "passed";
}

function messageOf(data, output) {
  const error = data.details?.error;
  const cause = error?.cause?.stack ?? error?.cause ?? error?.stack ?? error ?? "failed";
  return `${output ?? ""}${String(cause)}`.slice(-LONGEST);
}
