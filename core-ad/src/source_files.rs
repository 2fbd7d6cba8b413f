//! Which files are the user's.

use std::path::Path;

/// Folders that libraries and compilers have.
const LIBRARIES: [&str; 7] =
    ["/usr/", "/opt/", "/lib/", "/include/c++/", "/lib/clang/", "/site-packages/", "/runtime/"];

/// Whether a file, by its absolute path, is in a folder that libraries have.
pub fn is_of_library(file: &Path) -> bool {
    let text = file.to_string_lossy();
    LIBRARIES.iter().any(|folder| text.contains(folder))
}
