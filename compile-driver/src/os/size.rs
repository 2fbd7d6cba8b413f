//! Parses sizes in bytes: `8G`.

/// Bytes from `500M`, `2G`, `1000`.
pub fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let shift = match unit.trim_end_matches(['B', 'b', 'i']) {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        "T" | "t" => 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// A variable of the environment with a value that it cannot have.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{name} is `{value}`; it takes {takes}")]
pub struct BadVariable {
    name: &'static str,
    value: String,
    takes: &'static str,
}

/// The bytes that a variable of the environment gives; `None` where it is not set, is empty or has one of the `words`.
///
/// # Errors
///
/// Another value that is no size.
pub fn variable(name: &'static str, words: &[&str], takes: &'static str) -> Result<Option<u64>, BadVariable> {
    let value = std::env::var_os(name).unwrap_or_default().to_string_lossy().trim().to_owned();
    if value.is_empty() || words.contains(&value.as_str()) {
        return Ok(None);
    }
    bytes(&value).map(Some).ok_or(BadVariable { name, value, takes })
}

/// Bytes as a person writes them.
pub fn written(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{} KiB", bytes.div_ceil(1 << 10)),
        megabytes if megabytes >= 10 << 10 => format!("{} GiB", megabytes >> 10),
        megabytes => format!("{megabytes} MiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("10G"), Some(10 << 30));
        assert_eq!((bytes("5MiB"), bytes("7")), (Some(5 << 20), Some(7)));
        assert_eq!((bytes("x"), bytes("9999999999999G")), (None, None));
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!((written(500 << 10), written(1 << 20)), ("500 KiB".to_owned(), "1 MiB".to_owned()));
        assert_eq!((written(300 << 20), written(17 << 30)), ("300 MiB".to_owned(), "17 GiB".to_owned()));
    }
}
