// What the block readers ask of a single line. Pure.

/** Whether a line holds nothing but white space. */
export function isBlank(line) {
  return line.trim() === "";
}

/** How many spaces a line begins with; a tab counts as one, for it is cut off like one. */
export function indentOf(line) {
  return line.length - line.trimStart().length;
}

/** The fence that a line opens, as `{ marks, language }`, or null; backticks in what follows make it inline code. */
export function fence(line) {
  const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
  if (!marks) return null;
  const rest = line.trimStart().slice(marks.length);
  if (marks[0] === "`" && rest.includes("`")) return null;
  return { marks, language: rest.trim().split(/\s/, 1)[0] };
}
