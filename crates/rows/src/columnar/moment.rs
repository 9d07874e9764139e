//! Dates and times as text in ISO 8601: 2024-01-31, 2024-01-31T12:00:00.123.

use std::fmt;

const NANOS_OF_A_DAY: i64 = 86_400_000_000_000;
/// The Julian day number of 1 January 1970.
const JULIAN_DAY_OF_1970: i64 = 2_440_588;

/// A date, or a date with a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment {
    /// Days since 1 January 1970.
    day: i64,
    /// Nanoseconds since midnight.
    nanos: i64,
    shown: MomentParts,
}

/// The parts of a date and time that are formatted.
#[derive(Debug, Clone, Copy, PartialEq)]
enum MomentParts {
    Day,
    Time,
    /// The time, in UTC.
    TimeUtc,
}

/// The unit in which a column counts from the start of 1970.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unit {
    Days,
    /// Fractions of a second with this many decimal digits.
    Seconds {
        digits: u32,
        is_utc: bool,
    },
}

impl Unit {
    /// Returns the name of values in this unit, for error messages.
    pub(crate) fn of_column(self) -> &'static str {
        match self {
            Self::Days => "dates",
            Self::Seconds { .. } => "times",
        }
    }
}

impl Moment {
    pub(crate) fn new(count: i64, unit: Unit) -> Self {
        let Unit::Seconds { digits, is_utc } = unit else {
            return Self { day: count, nanos: 0, shown: MomentParts::Day };
        };
        let nanos = 10i64.pow(9 - digits.min(9));
        let a_day = NANOS_OF_A_DAY / nanos;
        let shown = if is_utc { MomentParts::TimeUtc } else { MomentParts::Time };
        Self { day: count.div_euclid(a_day), nanos: count.rem_euclid(a_day) * nanos, shown }
    }

    /// Creates a moment from a Julian day and the nanoseconds since its midnight.
    pub(crate) fn of_julian_day(day: u32, nanos: i64) -> Self {
        let day = i64::from(day) - JULIAN_DAY_OF_1970 + nanos.div_euclid(NANOS_OF_A_DAY);
        Self { day, nanos: nanos.rem_euclid(NANOS_OF_A_DAY), shown: MomentParts::Time }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.day);
        let sign = if year < 0 { "-" } else { "" };
        write!(f, "{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs())?;
        if self.shown == MomentParts::Day {
            return Ok(());
        }
        let (second, part) = (self.nanos / 1_000_000_000, self.nanos % 1_000_000_000);
        write!(f, "T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)?;
        if part > 0 {
            write!(f, ".{}", format!("{part:09}").trim_end_matches('0'))?;
        }
        f.write_str(if self.shown == MomentParts::TimeUtc { "Z" } else { "" })
    }
}

/// Returns the year, month and day for a number of days since 1 January 1970. Source: Howard Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms".
fn date(day: i64) -> (i128, i128, i128) {
    // Years begin in March here, so that a leap day is the last day of its year. The calendar repeats every
    // 400 years.
    let day = i128::from(day) + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (400 * era + year + i128::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(count: i64, digits: u32) -> String {
        Moment::new(count, Unit::Seconds { digits, is_utc: false }).to_string()
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        let text = |day| Moment::new(day, Unit::Days).to_string();
        for (day, options) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (19_753, "2024-01-31"),
            (19_782, "2024-02-29"),
            (11_016, "2000-02-29"),
            (-25_509, "1900-02-28"),
            (-25_508, "1900-03-01"),
            (-719_528, "0000-01-01"),
            (-719_529, "-0001-12-31"),
            (2_932_897, "10000-01-01"),
        ] {
            assert_eq!(text(day), options);
        }
        // Check that each date is the successor of the previous one.
        let (mut last, lengths) = (date(-800_000), [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]);
        for number in -799_999..800_000 {
            let (year, month, day) = last;
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = lengths[month as usize - 1] + i128::from(month == 2 && is_leap);
            let next = match (day == length, month) {
                (false, _) => (year, month, day + 1),
                (true, 12) => (year + 1, 1, 1),
                (true, _) => (year, month + 1, 1),
            };
            assert_eq!(date(number), next);
            last = next;
        }
    }

    #[test]
    fn times_have_the_digits_that_they_need() {
        assert_eq!(text(1_706_702_400, 0), "2024-01-31T12:00:00");
        assert_eq!(text(1_706_702_400_000, 3), "2024-01-31T12:00:00");
        assert_eq!(text(1_706_702_400_120, 3), "2024-01-31T12:00:00.12");
        assert_eq!(text(1_706_702_459_000_001, 6), "2024-01-31T12:00:59.000001");
        assert_eq!(text(-1, 9), "1969-12-31T23:59:59.999999999");
        let utc = Moment::new(1_706_702_400_123, Unit::Seconds { digits: 3, is_utc: true });
        assert_eq!(utc.to_string(), "2024-01-31T12:00:00.123Z");
        let julian = Moment::of_julian_day(2_460_341, 43_200_000_000_001);
        assert_eq!(julian.to_string(), "2024-01-31T12:00:00.000000001");
    }

    #[test]
    fn any_count_is_a_moment() {
        for count in [i64::MIN, i64::MAX] {
            assert!(!Moment::new(count, Unit::Days).to_string().is_empty());
            (0..=9).for_each(|digits| assert!(text(count, digits).contains('T')));
            assert!(Moment::of_julian_day(u32::MAX, count).to_string().contains('T'));
        }
    }
}
