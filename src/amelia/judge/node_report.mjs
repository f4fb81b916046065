// A reporter for `node --test` that writes one line of JSON for each test.
//
// The reporters that come with Node do not say in which file a test is, and not why a file could not be loaded.
// The last line counts the others, so that a run that was cut short cannot be taken for a whole one.

const LONGEST = 20_000;

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
      yield JSON.stringify({
        file,
        names: isFile ? [] : [...around, data.name],
        status: statusOf(data, failed, isFile),
        message: failed ? messageOf(data, isFile ? errors.get(file) : undefined) : "",
      }) + "\n";
    }
  }
  yield JSON.stringify({ end: count }) + "\n";
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
