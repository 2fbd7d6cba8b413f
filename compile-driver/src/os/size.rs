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

/// Bytes as a person writes them.
pub fn written(bytes: u64) -> String {
    match bytes >> 20 {
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
        assert_eq!((written(300 << 20), written(17 << 30)), ("300 MiB".to_owned(), "17 GiB".to_owned()));
    }
}
