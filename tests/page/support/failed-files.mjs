// A reporter for Node's test runner: the files with a failed test, a line each.

export default async function* failedFiles(events) {
  for await (const { type, data } of events) {
    if (type === "test:fail" && data.file) yield `${data.file}\n`;
  }
}
