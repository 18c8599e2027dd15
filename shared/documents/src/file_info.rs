use std::fs::Metadata;
use std::time::SystemTime;

use jiff::Timestamp;

/// The units of sizes, each 1024 times the one before.
const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];

/// The size of a file and the time of its last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileInfo {
    pub(crate) bytes: u64,
    pub(crate) modified: SystemTime,
}

impl FileInfo {
    /// Describes a file for models, which weigh large and old files: `2.1 KB, 2026-11-24`, the day in UTC.
    pub(crate) fn describe(self) -> String {
        let day = Timestamp::try_from(self.modified).map(|time| time.strftime("%Y-%m-%d").to_string());
        format!("{}, {}", size(self.bytes), day.unwrap_or_default())
    }
}

impl From<&Metadata> for FileInfo {
    fn from(metadata: &Metadata) -> Self {
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Self { bytes: metadata.len(), modified }
    }
}

fn size(bytes: u64) -> String {
    let (mut whole, mut tenth, mut unit) = (bytes, 0, "B");
    for larger in UNITS {
        if whole < 1024 {
            break;
        }
        (whole, tenth, unit) = (whole / 1024, whole % 1024 * 10 / 1024, larger);
    }
    if unit == "B" || whole >= 10 { format!("{whole} {unit}") } else { format!("{whole}.{tenth} {unit}") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn description_has_size_and_day() {
        let modified = SystemTime::UNIX_EPOCH + Duration::from_hours(498_750);
        let describe = |bytes| FileInfo { bytes, modified }.describe();
        let sizes = [0, 1023, 1024, 2150, 10_239, 10_240, 5 << 20, u64::MAX].map(describe);
        let expected = ["0 B", "1023 B", "1.0 KB", "2.0 KB", "9.9 KB", "10 KB", "5.0 MB", "16777215 TB"];
        assert_eq!(sizes, expected.map(|size| format!("{size}, 2026-11-24")));
    }
}
