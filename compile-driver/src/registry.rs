//! The foreign functions that this process has opened, by the attribute (`spec`) that names them in a framework's graph.
//!
//! For operations that graphs outlive (TensorFlow's, PyTorch's). The text, an attribute `spec`, is JSON: what `enzyme(...)` was given,
//! and the key of the manifest found then. A function is opened
//! once; an edited source has another key, so that operations made before and after the edit do not mix. In a process that only
//! loads a saved graph, the sources are opened as they are now.

use crate::os::interrupt::InterruptibleLock;
use crate::{Error, Function, Spec};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The `spec` attribute.
#[derive(Deserialize)]
struct Attribute {
    #[serde(flatten)]
    spec: Spec,
    /// Key of the manifest when the operation was made.
    #[allow(dead_code)]
    key: Option<String>,
}

/// A function that is opened when first needed.
#[derive(Default)]
pub struct Entry {
    function: OnceLock<Arc<Function>>,
    opening: InterruptibleLock,
}

/// Why there is no function.
pub enum Trouble {
    /// The attribute is not what this version of ffgrad writes.
    Attribute(String),
    /// It does not open.
    Driver(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Driver(error)
    }
}

/// The entry of an attribute; the same for the same text.
pub fn entry(attribute: &str) -> Arc<Entry> {
    static ENTRIES: OnceLock<Mutex<HashMap<String, Arc<Entry>>>> = OnceLock::new();
    let mut entries = ENTRIES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(entry) = entries.get(attribute) {
        return entry.clone();
    }
    let entry = Arc::new(Entry::default());
    entries.insert(attribute.to_owned(), entry.clone());
    entry
}

/// Names a function that is open already.
pub fn insert(attribute: &str, function: Arc<Function>) {
    // The first function of a name stays: its gradients may have been verified already.
    let _ = entry(attribute).function.set(function);
}

impl Entry {
    /// The function; opened now if it is not yet. A failure is not remembered: the user may fix the source.
    pub fn function(&self, attribute: &str) -> Result<&Arc<Function>, Trouble> {
        if let Some(function) = self.function.get() {
            return Ok(function);
        }
        let _one = self.opening.lock().map_err(Error::from)?;
        if let Some(function) = self.function.get() {
            return Ok(function);
        }
        let Attribute { spec, .. } = serde_json::from_str(attribute)
            .map_err(|e| Trouble::Attribute(format!("the attribute `spec` is not of this version of ffgrad: {e}")))?;
        let function = Arc::new(Function::open(spec)?);
        Ok(self.function.get_or_init(|| function))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_attribute_has_one_entry_and_another_key_another() {
        let one = r#"{"sources":["a.c"],"function":"f","key":"1"}"#;
        let two = r#"{"sources":["a.c"],"function":"f","key":"2"}"#;
        assert!(Arc::ptr_eq(&entry(one), &entry(one)));
        assert!(!Arc::ptr_eq(&entry(one), &entry(two)));
    }

    #[test]
    fn an_attribute_of_another_version_is_named_as_such() {
        match Entry::default().function("{}") {
            Err(Trouble::Attribute(text)) => assert!(text.contains("`spec`") && text.contains("sources")),
            _ => panic!("accepted"),
        }
    }

    #[test]
    fn a_missing_source_is_the_drivers_error() {
        let attribute = r#"{"sources":["/nowhere/a.c"],"function":"f","key":"1"}"#;
        assert!(matches!(Entry::default().function(attribute), Err(Trouble::Driver(Error::Compile(_)))));
    }
}
