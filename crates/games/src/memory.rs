//! Checks whether a computation fits in memory before anything is allocated. A failed allocation would abort
//! the process.

use std::fmt;
use std::sync::OnceLock;

/// The environment variable that overrides the memory limit: a number of bytes, optionally with a unit, as in
/// `8GB`.
pub const MAX_MEMORY: &str = "APPORTION_MAX_MEMORY";

/// Requests of up to this number of bytes always succeed, without querying the system.
const FREE: u128 = 1 << 26;

/// Memory limit if the system does not report its memory.
const UNKNOWN: u64 = 8 << 30;

/// Error for a computation that needs more memory than is available.
///
/// The message states the required and the available bytes, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooMuchMemory {
    what: String,
    bytes: u128,
    limit: u64,
    instead: &'static str,
}

impl TooMuchMemory {
    /// Returns the number of bytes that the computation needs.
    pub fn bytes(&self) -> u128 {
        self.bytes
    }

    /// Returns the number of bytes that are available.
    pub fn limit(&self) -> u64 {
        self.limit
    }
}

impl fmt::Display for TooMuchMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, bytes, limit, instead } = self;
        let (bytes, limit) = (Size(*bytes), Size((*limit).into()));
        write!(
            f,
            "{what} would take {bytes} of memory, but only {limit} is available; {instead}, or raise the \
             limit with {MAX_MEMORY}=BYTES"
        )
    }
}

impl std::error::Error for TooMuchMemory {}

/// A number of bytes, formatted with a suitable unit.
struct Size(u128);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 7] = ["kB", "MB", "GB", "TB", "PB", "EB", "ZB"];
        let mut size = self.0 as f64 / 1e3;
        let mut unit = 0;
        while size >= 999.95 && unit + 1 < UNITS.len() {
            size /= 1e3;
            unit += 1;
        }
        match size < 1e6 {
            true => write!(f, "{size:.1} {}", UNITS[unit]),
            false => write!(f, "more than 10^6 {}", UNITS[unit]),
        }
    }
}

/// Returns the product of `factors` (for example rows, columns and bytes per entry), saturating on overflow.
pub fn product<const N: usize>(factors: [usize; N]) -> u128 {
    match factors.contains(&0) {
        true => 0,
        false => factors.into_iter().fold(1, |product: u128, factor| product.saturating_mul(factor as u128)),
    }
}

/// Checks that a computation whose peak memory is `bytes` fits in memory. In the error, `what` names the data
/// ("the matrix of …"), and `instead` is the advice, in the imperative ("group the features").
///
/// # Errors
///
/// [`TooMuchMemory`] for more than [`available`] bytes; never for at most 64 MiB.
///
/// ```
/// use apportion_games::memory;
///
/// let pairs = |players: usize| memory::product([players, players, 8]);
/// assert!(memory::check(pairs(1000), || "the matrix".into(), "use fewer players").is_ok());
/// let error = memory::check(pairs(1 << 40), || "the matrix".into(), "use fewer players").unwrap_err();
/// assert!(error.to_string().contains("the matrix would take"));
/// ```
pub fn check(bytes: u128, what: impl FnOnce() -> String, instead: &'static str) -> Result<(), TooMuchMemory> {
    if bytes <= FREE {
        return Ok(());
    }
    let limit = available();
    match bytes <= u128::from(limit) {
        true => Ok(()),
        false => Err(TooMuchMemory { what: what(), bytes, limit, instead }),
    }
}

/// Returns the number of bytes that a computation may allocate now. This is 90% of the smallest of three
/// limits: the memory available on the system, the memory that remains in the control group of the process,
/// and the address space that remains below `ulimit -v`. The environment variable [`MAX_MEMORY`] overrides
/// this number. If the system reports nothing, the result is 90% of 8 GiB.
///
/// A value of the variable that is not a number of bytes is ignored; programs reject it at startup with
/// [`check_setting`].
pub fn available() -> u64 {
    static SET: OnceLock<Option<u64>> = OnceLock::new();
    let set = SET.get_or_init(|| setting().and_then(|text| bytes_of(&text)));
    set.unwrap_or_else(|| system::available().unwrap_or(UNKNOWN) / 10 * 9)
}

/// Returns the value of the environment variable, if it is set and not empty.
fn setting() -> Option<String> {
    let text = std::env::var_os(MAX_MEMORY)?;
    Some(text.to_string_lossy().into_owned()).filter(|text| !text.is_empty())
}

/// Checks the environment variable [`MAX_MEMORY`].
///
/// # Errors
///
/// An error message with the value of the variable, if it is not a number of bytes.
pub fn check_setting() -> Result<(), String> {
    setting().map_or(Ok(()), |text| checked(&text))
}

fn checked(text: &str) -> Result<(), String> {
    match bytes_of(text) {
        Some(_) => Ok(()),
        None => {
            Err(format!("invalid value {text:?} for {MAX_MEMORY}; expected a number of bytes, such as 8GB"))
        }
    }
}

/// Parses a number of bytes, with or without a unit.
fn bytes_of(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().ok()?;
    let unit = match unit.trim().trim_end_matches('b') {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "t" => 1e12,
        "ki" => 1024.0,
        "mi" => 1_048_576.0,
        "gi" => 1_073_741_824.0,
        "ti" => 1_099_511_627_776.0,
        _ => return None,
    };
    Some((number * unit) as u64)
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::path::Path;

    /// Returns the bytes that can be allocated, if the system reports any.
    pub(super) fn available() -> Option<u64> {
        [of_machine(), of_address_space(), of_groups()].into_iter().flatten().min()
    }

    /// Returns the memory of the machine that is available without swapping.
    fn of_machine() -> Option<u64> {
        kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
    }

    /// Returns the address space that remains below the limit of the process.
    fn of_address_space() -> Option<u64> {
        let limits = fs::read_to_string("/proc/self/limits").ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        // The value "unlimited" does not parse as a number, so there is no limit.
        let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
        let used = kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?;
        Some(limit.saturating_sub(used))
    }

    /// Returns the memory that remains in the control groups of the process, for version 1 or 2.
    fn of_groups() -> Option<u64> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        groups.lines().filter_map(of_group).min()
    }

    /// Returns the memory that remains in a control group and its parents. `line` has the form
    /// `number:controllers:path`, with empty controllers for version 2.
    fn of_group(line: &str) -> Option<u64> {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (root, limit, usage, cache) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
            _ if controllers.split(',').any(|controller| controller == "memory") => (
                "/sys/fs/cgroup/memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            ),
            _ => return None,
        };
        // In a container, the path may refer to the host, while the files of the container are at the root.
        let own = Path::new(root).join(path.trim_start_matches('/'));
        let above = own.ancestors().take_while(|folder| folder.starts_with(root));
        above
            .filter_map(|folder| {
                let number =
                    |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
                let (limit, usage) = (number(limit)?, number(usage)?);
                // The page cache can be reclaimed, so it does not count as used.
                let cache = fs::read_to_string(folder.join("memory.stat")).ok().and_then(|stat| {
                    stat.lines().find_map(|line| line.strip_prefix(cache)?.trim().parse::<u64>().ok())
                });
                Some(limit.saturating_sub(usage.saturating_sub(cache.unwrap_or(0))))
            })
            .min()
    }

    /// Returns the size in bytes from a line of the form `name: number kB`.
    fn kilobytes(text: &str, name: &str) -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let number: u64 = line.split_whitespace().next()?.parse().ok()?;
        number.checked_mul(1024)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_system_reports_its_memory() {
            let all = kilobytes(&fs::read_to_string("/proc/meminfo").unwrap(), "MemTotal:").unwrap();
            let bytes = available().unwrap();
            assert!(bytes > 1 << 20 && bytes <= all, "{bytes} of {all}");
            assert_eq!(kilobytes("A: 1 kB\nMemAvailable:   20 kB\n", "MemAvailable:"), Some(20_480));
            assert_eq!(kilobytes("A: 1 kB\n", "MemAvailable:"), None);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    /// Returns `None`: memory is only queried on Linux.
    pub(super) fn available() -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_both_numbers() {
        assert_eq!(check(0, || unreachable!(), ""), Ok(()));
        assert_eq!(check(FREE, || unreachable!(), ""), Ok(()));
        for factors in [[1 << 40, 1 << 40], [usize::MAX, usize::MAX], [1 << 62, 1]] {
            let bytes = product(factors);
            let error = check(bytes, || "a matrix".to_owned(), "use less").unwrap_err();
            assert_eq!((error.bytes(), error.what.as_str()), (bytes, "a matrix"));
            assert!(u128::from(error.limit()) < bytes);
        }
        let error = TooMuchMemory {
            what: "the dependence of 60000 features".to_owned(),
            bytes: 28_800_000_000,
            limit: 2 << 30,
            instead: "use fewer",
        };
        assert_eq!(
            error.to_string(),
            "the dependence of 60000 features would take 28.8 GB of memory, but only 2.1 GB is available; \
             use fewer, or raise the limit with APPORTION_MAX_MEMORY=BYTES"
        );
    }

    #[test]
    fn products_do_not_wrap() {
        assert_eq!(product([3, 4, 8]), 96);
        assert_eq!(product([0, usize::MAX, usize::MAX, usize::MAX]), 0);
        assert_eq!(product([usize::MAX, usize::MAX, usize::MAX, 0]), 0);
        assert_eq!(product([usize::MAX; 3]), u128::MAX);
    }

    #[test]
    fn sizes_have_units() {
        for (bytes, text) in [
            (0, "0.0 kB"),
            (1_500, "1.5 kB"),
            (999_949_000, "999.9 MB"),
            (999_950_000, "1.0 GB"),
            (16_000_000_000_000, "16.0 TB"),
            (u128::MAX, "more than 10^6 ZB"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }

    #[test]
    fn limits_are_read_with_units() {
        for (text, bytes) in [
            ("1000", Some(1000)),
            ("2GB", Some(2_000_000_000)),
            (" 1.5 g ", Some(1_500_000_000)),
            ("2GiB", Some(2 << 30)),
            ("16kb", Some(16_000)),
            ("4 Mi", Some(4 << 20)),
            ("1T", Some(1_000_000_000_000)),
            ("all", None),
            ("-1", None),
            ("2 pounds", None),
        ] {
            assert_eq!(bytes_of(text), bytes, "{text:?}");
            assert_eq!(checked(text).is_ok(), bytes.is_some(), "{text:?}");
        }
        let says =
            "invalid value \"2 pounds\" for APPORTION_MAX_MEMORY; expected a number of bytes, such as 8GB";
        assert_eq!(checked("2 pounds"), Err(says.to_owned()));
    }
}
