//! What a custom call computes: its attribute `op`, read once.
//!
//! The attribute is sixteen characters that stand for the rest (the start of its SHA-256), then JSON. The digest finds the operation
//! in a table without reading the rest again; the rest is compared, so that two never mix.
//!
//! The functions themselves are the driver's registry's, which holds them for the life of the process: an executable may outlive
//! everything that Python knows of it.

use compile_driver::registry::{self, Entry};
use compile_driver::{Error, Function};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

/// Characters of the digest before the JSON.
const DIGEST: usize = 16;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// f(x).
    Primal,
    /// Jᵀ v.
    Vjp,
    /// J t.
    Jvp,
    /// ∂(Jᵀ v)/∂x · t.
    Hvp,
    /// ∂(J t)/∂x · s.
    Jvp2,
}

/// Which arrays of a call are there, as bit sets over the inputs or outputs of the call plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Masks {
    /// Vjp and hvp: inputs whose gradient is a result. Primal: inputs whose gradient will be wanted.
    pub wanted: u64,
    /// Outputs with a cotangent.
    pub cotangents: u64,
    /// Inputs with a tangent.
    pub tangents: u64,
    /// Inputs with a direction (jvp2).
    pub directions: u64,
}

/// Which arrays have leading batch dimensions, as bit sets like [`Masks`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Batch {
    /// Number of batch dimensions.
    pub rank: usize,
    /// Inputs.
    pub inputs: u64,
    /// Cotangents.
    pub cotangents: u64,
    /// Tangents.
    pub tangents: u64,
    /// Directions.
    pub directions: u64,
    /// Gradients that are wanted for each element though the input is shared.
    pub separate: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    /// JSON again, as a text of its own: the name of the function in the driver's registry.
    spec: String,
    kind: Kind,
    #[serde(default)]
    masks: Masks,
    #[serde(default)]
    batch: Batch,
}

/// The part of a function's name that is read here.
#[derive(Deserialize)]
struct Named {
    /// Key of the manifest when the operation was made.
    key: String,
}

/// An operation of an executable.
pub struct Op {
    /// What is computed.
    pub kind: Kind,
    /// Of what.
    pub masks: Masks,
    /// Over which batch.
    pub batch: Batch,
    spec: String,
    entry: Arc<Entry>,
    /// Set once the function is known to be the one that the executable was made for.
    function: OnceLock<Arc<Function>>,
}

/// Why there is no function.
#[derive(Debug)]
pub enum Trouble {
    /// The attribute is not what `ffgrad.jax` writes.
    Attribute(String),
    /// The sources or the tools are not those that the executable was made with.
    Outdated(String),
    /// It does not open.
    Driver(Error),
}

/// Every attribute seen, by its digest.
type Ops = HashMap<[u8; DIGEST], (String, Arc<Op>)>;

static OPS: LazyLock<RwLock<Ops>> = LazyLock::new(RwLock::default);

impl From<registry::Trouble> for Trouble {
    fn from(trouble: registry::Trouble) -> Self {
        match trouble {
            registry::Trouble::Attribute(text) => Trouble::Attribute(text),
            registry::Trouble::Driver(error) => Trouble::Driver(error),
        }
    }
}

/// The operation of an attribute; the same for the same text.
///
/// # Errors
///
/// [`Trouble::Attribute`] for a text of another version of ffgrad.
pub fn find(attribute: &str) -> Result<Arc<Op>, Trouble> {
    let foreign =
        |reason: &str| Trouble::Attribute(format!("the attribute `op` is not of this version of ffgrad: {reason}"));
    let digest: [u8; DIGEST] = match attribute.as_bytes().first_chunk() {
        Some(digest) => *digest,
        None => return Err(foreign("it is too short")),
    };
    if let Some((text, op)) = OPS.read().unwrap_or_else(PoisonError::into_inner).get(&digest)
        && text == attribute
    {
        return Ok(op.clone());
    }
    let json = attribute.get(DIGEST..).unwrap_or_default();
    let text: Text = serde_json::from_str(json).map_err(|e| foreign(&e.to_string()))?;
    let op = Arc::new(Op {
        kind: text.kind,
        masks: text.masks,
        batch: text.batch,
        entry: registry::entry(&text.spec),
        spec: text.spec,
        function: OnceLock::new(),
    });
    OPS.write().unwrap_or_else(PoisonError::into_inner).insert(digest, (attribute.to_owned(), op.clone()));
    Ok(op)
}

impl Op {
    /// The function; opened now if this process has not yet done so. A failure is not remembered: the user may fix
    /// what is wrong.
    ///
    /// # Errors
    ///
    /// The driver's, and [`Trouble::Outdated`] where it is not the function that the executable was made for.
    pub fn function(&self) -> Result<&Arc<Function>, Trouble> {
        if let Some(function) = self.function.get() {
            return Ok(function);
        }
        let function = self.entry.function(&self.spec)?;
        let Named { key } = serde_json::from_str(&self.spec).map_err(|e| Trouble::Attribute(e.to_string()))?;
        // Where only an executable of another process knows the function, its sources were opened as they are now.
        if function.manifest().key != key {
            return Err(Trouble::Outdated(format!(
                "the executable was made from another version of `{}`: its source, a header, an option or a tool has \
                 changed since\n  Trace and compile it again from this source.",
                function.spec().function
            )));
        }
        Ok(self.function.get_or_init(|| function.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(digest: &str, kind: &str) -> String {
        let spec = r#"{\"sources\":[\"/nowhere/a.c\"],\"function\":\"f\",\"key\":\"1\"}"#;
        format!(r#"{digest}{{"spec":"{spec}","kind":"{kind}","masks":{{"wanted":3}}}}"#)
    }

    #[test]
    fn the_same_attribute_is_one_operation() {
        let text = attribute("0123456789abcdef", "vjp");
        let (one, two) = (find(&text).unwrap(), find(&text).unwrap());
        assert!(Arc::ptr_eq(&one, &two));
        assert_eq!((one.kind, one.masks.wanted), (Kind::Vjp, 3));
    }

    #[test]
    fn two_texts_with_one_digest_do_not_mix() {
        let kinds = ["vjp", "jvp", "vjp"].map(|kind| find(&attribute("fedcba9876543210", kind)).unwrap().kind);
        assert_eq!(kinds, [Kind::Vjp, Kind::Jvp, Kind::Vjp]);
    }

    #[test]
    fn an_attribute_of_another_version_is_named_as_such() {
        for text in ["", "0123456789abcdef{}", "0123456789abcdef{\"kind\":\"cube\"}", "öööööööööööö"] {
            match find(text).map(|_| ()) {
                Err(Trouble::Attribute(reason)) => assert!(reason.contains("`op`"), "{reason}"),
                _ => panic!("accepted {text}"),
            }
        }
    }

    #[test]
    fn a_missing_source_is_the_drivers_error() {
        let op = find(&attribute("00000000000000aa", "jvp")).unwrap();
        assert!(matches!(op.function(), Err(Trouble::Driver(Error::Compile(_)))));
    }
}
