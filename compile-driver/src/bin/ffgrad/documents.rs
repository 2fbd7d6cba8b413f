//! The documents that messages name, within the command: a wheel has no `docs/` beside it.

/// Each document's name, and its text.
const ALL: [(&str, &str); 8] = [
    ("adapters", include_str!("../../../../docs/adapters.md")),
    ("checkpointing", include_str!("../../../../docs/checkpointing.md")),
    ("command", include_str!("../../../../docs/reference/command.md")),
    ("cuda", include_str!("../../../../docs/cuda.md")),
    ("custom-derivatives", include_str!("../../../../docs/custom-derivatives.md")),
    ("fortran", include_str!("../../../../docs/fortran.md")),
    ("packs", include_str!("../../../../docs/packs.md")),
    ("parallel", include_str!("../../../../docs/parallel.md")),
];

/// The text of a document: by its name, or by its path in the repository.
pub fn find(wanted: &str) -> Option<&'static str> {
    let name = wanted.rsplit('/').next()?.trim_end_matches(".md");
    ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The names of all documents.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_found_by_its_name_and_by_its_path() {
        assert!(find("parallel").is_some_and(|text| text.starts_with("# ")));
        assert_eq!(find("docs/reference/command.md"), find("command"));
        assert_eq!(find("nothing"), None);
    }
}
