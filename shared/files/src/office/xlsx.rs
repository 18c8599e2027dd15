//! Text of XLSX workbooks: each sheet as CSV (RFC 4180) below its name.

use std::io::Cursor;

use calamine::{DataRef, ExcelDateTime, Reader, Xlsx, XlsxError};

use crate::FileError;
use crate::file_text::MAX_TEXT_BYTES;

/// The maximum number of sheets that are read.
const MAX_SHEETS: usize = 500;

/// The largest number of empty cells in front of a cell that are shown.
const MAX_GAP: usize = 100;

/// Reads the sheets, and whether there is more. Rows and cells are those that the file has: the sizes that it declares are not
/// read.
pub(super) fn read(bytes: &[u8]) -> Result<(Vec<String>, bool), FileError> {
    let damaged = |error| match error {
        XlsxError::Password => FileError::Encrypted,
        _ => FileError::damaged("it is not a readable XLSX workbook"),
    };
    let mut workbook = Xlsx::new(Cursor::new(bytes)).map_err(damaged)?;
    let names = workbook.sheet_names();
    let (mut sheets, mut space) = (Vec::new(), MAX_TEXT_BYTES);
    for name in names.iter().take(MAX_SHEETS) {
        let mut sheet = Sheet { text: format!("# {name}\n"), ..Sheet::default() };
        match workbook.worksheet_cells_reader(name) {
            Ok(mut cells) => {
                while sheet.text.len() < space
                    && let Some(cell) = cells.next_cell().map_err(damaged)?
                {
                    sheet.push(cell.get_position(), cell.get_value());
                }
            }
            // A sheet that is a chart has no cells.
            Err(XlsxError::NotAWorksheet(_)) => {}
            Err(error) => return Err(damaged(error)),
        }
        space = space.saturating_sub(sheet.text.len());
        sheets.push(sheet.text);
    }
    Ok((sheets, space == 0 || names.len() > MAX_SHEETS))
}

#[derive(Default)]
struct Sheet {
    text: String,
    /// The row and the column after the last cell.
    next: (u32, u32),
}

impl Sheet {
    fn push(&mut self, (row, column): (u32, u32), value: &DataRef<'_>) {
        let value = match value {
            DataRef::Empty => return,
            DataRef::SharedString(text) => field(text),
            DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => field(text),
            DataRef::Int(number) => number.to_string(),
            DataRef::Float(number) => number.to_string(),
            DataRef::Bool(value) => value.to_string(),
            DataRef::DateTime(time) => time_text(time),
            DataRef::Error(error) => error.to_string(),
        };
        if row != self.next.0 || self.next.1 == 0 {
            self.text.push_str(if self.text.ends_with('\n') { "" } else { "\n" });
            self.next = (row, 0);
        }
        let gap = usize::try_from(column.saturating_sub(self.next.1)).unwrap_or(MAX_GAP).min(MAX_GAP);
        self.text.push_str(if self.next.1 == 0 { "" } else { "," });
        self.text.extend([&*",".repeat(gap), &value]);
        self.next.1 = column.saturating_add(1);
    }
}

/// A field of CSV.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// A date, or a date with a time, or a number of days.
fn time_text(time: &ExcelDateTime) -> String {
    if time.is_duration() {
        return time.to_string();
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    if (hour, minute, second) == (0, 0, 0) { date } else { format!("{date} {hour:02}:{minute:02}:{second:02}") }
}
