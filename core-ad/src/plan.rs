//! The call plan: what each argument of the foreign function means to a caller.
//!
//! A plan is the discovered [`Prototype`](crate::Prototype) joined with the user's signature. The
//! worker derives the entry points from it; the loader derives the call from it.

use crate::DType;
use crate::protocol::Entry;
use crate::shapes::dims::spell;
use serde::{Deserialize, Serialize};

/// A dimension: an integer expression over the symbols of a signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dim {
    /// A number.
    Int(i64),
    /// A symbol, bound by the shape of an input or by the option `sizes`.
    Sym(String),
    /// Sum.
    Add(Box<Dim>, Box<Dim>),
    /// Difference.
    Sub(Box<Dim>, Box<Dim>),
    /// Product.
    Mul(Box<Dim>, Box<Dim>),
    /// Quotient rounded towards minus infinity, as in Python.
    FloorDiv(Box<Dim>, Box<Dim>),
}

/// What an argument is to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Given by the caller, never written.
    Input,
    /// Allocated zeroed per call, returned to the caller.
    Output,
    /// Given by the caller and updated by the foreign code in a copy, which is returned.
    InOut,
    /// Allocated zeroed per call, dropped after it.
    Scratch,
    /// An integer that follows from the shapes; `shape` holds its one expression.
    Size,
    /// The function's value, seen as a 0-d output.
    Return,
}

/// How an argument reaches the foreign function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Passing {
    /// As a pointer to the first element.
    Pointer,
    /// By value.
    Value,
    /// As the address of a Fortran descriptor, which the entry point makes; its extents are the size arguments that
    /// name this one.
    Descriptor,
    /// As a null pointer: an optional argument of Fortran that the signature leaves out.
    Absent,
}

/// One argument of the foreign function, in the order of its parameters; the value of the
/// function, where it has one that the plan uses, comes last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arg {
    /// The parameter's name; `return` for the function's value.
    pub name: String,
    /// What it is to the caller.
    pub role: Role,
    /// Element type.
    pub dtype: DType,
    /// How it is passed.
    pub passing: Passing,
    /// Shape, outermost dimension first; empty for scalars. For [`Role::Size`]: its value.
    pub shape: Vec<Dim>,
    /// Marked `const` in the signature: an input that never gets a gradient.
    pub constant: bool,
    /// Whether the caller must give a shape with exactly these dimensions (declared by a
    /// signature) or any shape with that many elements (the defaults without a signature, where
    /// `shape` is one symbol that stands for the number of elements).
    pub flat: bool,
    /// The first index varies fastest, as in Fortran.
    #[serde(default)]
    pub column_major: bool,
    /// Has the `...` of a signature: leading batch dimensions, for each element of which the function is called.
    pub batched: bool,
    /// How a text is passed as this array of bytes; `None` where none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Text>,
}

/// How a text becomes an array of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Text {
    /// With a zero at its end.
    C,
    /// Filled up with blanks to the length of the dummy, where that has one.
    Fortran,
}

impl Arg {
    /// As in a signature: `A[m,n]`, `x[...,n]`, or just the name where there are no dimensions.
    pub fn spelled(&self) -> String {
        spell(&self.name, &self.shape, self.batched)
    }

    /// Whether a derivative with respect to (or of) this argument exists at all.
    pub fn is_differentiable(&self) -> bool {
        self.dtype.is_float() && !self.constant && self.role != Role::Size
    }

    /// Whether the entry points' wrapper takes this argument as a plain value. Sizes always: what is known of a number is
    /// known of it in memory too, once the wrapper has stored it there. Never what the function returns, which has a place.
    pub fn is_by_value(&self) -> bool {
        let is_integer = self.passing == Passing::Value && !self.dtype.is_float();
        self.role == Role::Size || (is_integer && self.role != Role::Return)
    }
}

/// How to call a foreign function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallPlan {
    /// Every argument in the order of the C parameters, then `return` if it is used.
    pub args: Vec<Arg>,
    /// Indices into `args` of what `.apply` takes, in its order.
    pub inputs: Vec<usize>,
    /// Indices into `args` of what `.apply` returns, in its order. An in-place argument stands in
    /// both lists.
    pub outputs: Vec<usize>,
    /// The value of the function exists but is not used.
    pub drops_return: bool,
    /// The signature in normal form, as the user could have written it.
    pub signature: String,
}

/// The part of an argument that is in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The argument itself.
    Primal,
    /// Its shadow: a tangent in forward mode, a cotangent in reverse mode.
    Shadow,
    /// In second derivatives: the direction in which the argument moves.
    Direction,
    /// In second derivatives: how the shadow changes along the direction.
    ShadowChange,
}

/// A place in the argument array of an entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Index into [`CallPlan::args`].
    pub arg: usize,
    /// Which part of it.
    pub part: Part,
}

impl CallPlan {
    /// Whether `args[arg]` has a shadow when the inputs in `mask` are differentiated (bit i stands for
    /// `inputs[i]`). Everything the foreign code writes has one: memory that is only scratch still
    /// carries derivatives from one statement to the next.
    pub fn has_shadow(&self, arg: usize, mask: u64) -> bool {
        let a = &self.args[arg];
        match a.role {
            Role::Size => false,
            Role::Input => {
                let position = self.inputs.iter().position(|&i| i == arg);
                a.is_differentiable() && position.is_some_and(|p| mask >> p & 1 == 1)
            }
            Role::Output | Role::InOut | Role::Scratch | Role::Return => a.dtype.is_float(),
        }
    }

    /// The argument array of an entry point: each argument, followed by its other parts where it has a
    /// shadow.
    pub fn slots(&self, entry: Entry, mask: u64) -> impl Iterator<Item = Slot> + '_ {
        let parts: &'static [Part] = match entry {
            Entry::Primal => &[Part::Primal],
            Entry::Vjp | Entry::Jvp | Entry::Augmented | Entry::Reverse => &[Part::Primal, Part::Shadow],
            Entry::Hvp | Entry::Jvp2 => &[Part::Primal, Part::Direction, Part::Shadow, Part::ShadowChange],
        };
        (0..self.args.len()).flat_map(move |arg| {
            let count = if self.has_shadow(arg, mask) { parts.len() } else { 1 };
            parts[..count].iter().map(move |&part| Slot { arg, part })
        })
    }

    /// Whether every index is one of an argument, as in every plan that was made here: a file may differ.
    pub fn is_consistent(&self) -> bool {
        let known = |i: &usize| *i < self.args.len();
        self.inputs.len() <= 64 && self.inputs.iter().all(known) && self.outputs.iter().all(known)
    }

    /// Whether any argument has the `...` of a signature.
    pub fn is_batched(&self) -> bool {
        self.args.iter().any(|a| a.batched)
    }

    /// Bit i is set where `inputs[i]` can be differentiated at all.
    pub fn differentiable_mask(&self) -> u64 {
        let bit = |(p, &arg): (usize, &usize)| u64::from(self.args[arg].is_differentiable()) << p;
        self.inputs.iter().enumerate().map(bit).sum()
    }
}
