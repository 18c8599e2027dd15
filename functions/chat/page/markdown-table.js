// Parses the rows of a Markdown table. Pure.

const DELIMITER_ROW = /^[\s|:-]*$/;
const MAX_COLUMNS = 64;
const DELIMITER = /^:?-+:?$/;

/** Whether a line is the delimiter row below a table's header. */
export function isDelimiterRow(line) {
  return isRow(line) && DELIMITER_ROW.test(line) && tableRow(line).every((cell) => DELIMITER.test(cell));
}

/** Whether a line can be a row: it has a pipe and at most `MAX_COLUMNS` columns. */
export function isRow(line) {
  return line.includes("|") && line.split("|").length - 2 <= MAX_COLUMNS;
}

/** The alignment of each column: `left`, `center`, `right` or null. */
export function columns(line) {
  return tableRow(line).map((cell) => {
    const [left, right] = [cell.startsWith(":"), cell.endsWith(":")];
    if (left && right) return "center";
    if (right) return "right";
    return left ? "left" : null;
  });
}

/** The cells of a row; a pipe after a backslash is part of its cell. */
export function tableRow(line) {
  const cells = [];
  let cell = "";
  for (const [piece] of line
    .trim()
    .replace(/^\|/, "")
    .matchAll(/\\\||\||[^\\|]+|\\/g)) {
    if (piece === "|") {
      cells.push(cell.trim());
      cell = "";
    } else cell += piece === "\\|" ? "|" : piece;
  }
  if (cell.trim() !== "" || cells.length === 0) cells.push(cell.trim());
  return cells;
}
