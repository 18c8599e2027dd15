// Classifies a single line for the block parser. Pure.

/** Whether a line is empty or white space only. */
export function isBlank(line) {
  return line.trim() === "";
}

/** The number of leading white-space characters; a tab counts as one character. */
export function indentOf(line) {
  return line.length - line.trimStart().length;
}

/** The code fence that a line opens, as `{ marks, language }`, or null; later backticks make it inline code. */
export function fence(line) {
  const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
  if (!marks) return null;
  const rest = line.trimStart().slice(marks.length);
  if (marks[0] === "`" && rest.includes("`")) return null;
  return { marks, language: rest.trim().split(/\s/, 1)[0] };
}
