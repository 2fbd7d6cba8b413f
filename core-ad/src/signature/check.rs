//! Checks a signature's syntax tree against the prototype: returns the [`CallPlan`], or everything that is wrong.

use super::adapted;
use super::parser::{Item, Tree};
use super::symbols::{bound, divides_by_zero, items, symbols};
use super::{did_you_mean, normal_form, unsupported, useless_size};
use crate::names::closest;
use crate::shapes::dims::spell;
use crate::{Access, Arg, CallPlan, DType, Dim, Param, ParamType, Passing, Prototype};
use crate::{ReturnType, Role};
use std::collections::BTreeMap;

/// Builds the plan that `tree` describes, or returns every reason why it does not fit.
pub(super) fn plan(prototype: &Prototype, tree: &Tree, sizes: &BTreeMap<String, i64>) -> Result<CallPlan, Vec<String>> {
    let mut check = Check {
        prototype,
        tree,
        sizes,
        symbols: symbols(tree),
        mentions: vec![Mention::default(); prototype.params.len()],
        problems: Vec::new(),
    };
    check.note_mentions();
    let args = check.args();
    check.outputs();
    check.batch();
    check.symbols_bound();
    check.symbols_sane();
    if check.problems.is_empty() { Ok(finish(prototype, tree, args)) } else { Err(check.problems) }
}

/// Where a parameter is mentioned.
#[derive(Clone, Copy, Default)]
struct Mention<'a> {
    input: Option<&'a Item>,
    output: Option<&'a Item>,
    scratch: Option<&'a Item>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Inputs,
    Outputs,
    Scratch,
}

impl Section {
    const fn place(self) -> &'static str {
        match self {
            Section::Inputs => "left of `->`",
            Section::Outputs => "right of `->`",
            Section::Scratch => "after `;`",
        }
    }
}

struct Check<'a> {
    prototype: &'a Prototype,
    tree: &'a Tree,
    sizes: &'a BTreeMap<String, i64>,
    /// Every symbol with the item that has it first.
    symbols: BTreeMap<&'a str, &'a Item>,
    /// One per parameter.
    mentions: Vec<Mention<'a>>,
    problems: Vec<String>,
}

impl<'a> Check<'a> {
    fn problem(&mut self, text: String) {
        self.problems.push(text);
    }

    fn note_mentions(&mut self) {
        let tree = self.tree;
        let sections =
            [(Section::Inputs, &tree.inputs), (Section::Outputs, &tree.outputs), (Section::Scratch, &tree.scratch)];
        let mut seen_return = false;
        for (section, items) in sections {
            for item in items {
                self.item(section, item);
                if item.name != "return" || self.is_returned_object(section) {
                    self.mention(section, item);
                } else if std::mem::replace(&mut seen_return, true) {
                    self.problem("`return` is mentioned twice: mention it once".to_owned());
                } else {
                    self.returned(section, item);
                }
            }
        }
    }

    /// Whether `return` is a parameter of the adapter.
    fn is_returned_object(&self, section: Section) -> bool {
        section == Section::Outputs && self.prototype.param("return").is_some()
    }

    /// What is wrong with an item whatever it names.
    fn item(&mut self, section: Section, item: &Item) {
        let name = &item.name;
        if item.batched && section == Section::Scratch {
            self.problem(format!("`{}` is scratch, and each element has its own: leave out `...`", spelled(item)));
        }
        if item.constant && section != Section::Inputs {
            self.problem(format!("`const {name}` stands {}: only inputs can be `const`", section.place()));
        }
    }

    fn returned(&mut self, section: Section, item: &Item) {
        let function = &self.prototype.function;
        let text = match &self.prototype.returns {
            _ if section != Section::Outputs => format!(
                "`return` stands {}, but it is the value of `{function}`: move it right of `->`",
                section.place()
            ),
            ReturnType::Void => format!(
                "`return` is an output, but `{function}` returns `void`: name the pointers it \
                 writes to instead"
            ),
            ReturnType::Object { object } => format!(
                "`return` is an output, but no adapter can call `{function}`, which returns a `{}`: wrap the function",
                object.class
            ),
            ReturnType::Unsupported { spelled } => format!(
                "`return` is an output, but no tensor can hold the `{spelled}` that `{function}` \
                 returns: name pointers that it writes to instead, or wrap the function in one that does"
            ),
            ReturnType::Value { .. } if item.dims.as_ref().is_some_and(|d| !d.is_empty()) => {
                "`return` is a scalar and has no dimensions: write it without brackets (`return[...]` over a batch)"
                    .to_owned()
            }
            ReturnType::Value { .. } => return,
        };
        self.problem(text);
    }

    fn mention(&mut self, section: Section, item: &'a Item) {
        let Some((position, _)) = self.prototype.param(&item.name) else {
            return self.unknown_name(&item.name);
        };
        let mention = &mut self.mentions[position];
        let slot = match section {
            Section::Inputs => &mut mention.input,
            Section::Outputs => &mut mention.output,
            Section::Scratch => &mut mention.scratch,
        };
        if slot.replace(item).is_some() {
            let place = section.place();
            self.problem(format!("`{}` is mentioned twice {place}: mention it once", item.name));
        }
    }

    fn unknown_name(&mut self, name: &str) {
        let prototype = self.prototype;
        let hint = did_you_mean(&closest(name, prototype.params.iter().map(|p| p.name.as_str())));
        let text =
            format!("`{name}` is no parameter of `{}`{hint}: use the names of the prototype", prototype.function);
        self.problem(text);
    }

    fn args(&mut self) -> Vec<Arg> {
        let params = self.prototype.params.iter().zip(self.mentions.clone());
        let mut args: Vec<Arg> = params.filter_map(|(param, mention)| self.arg(param, mention)).collect();
        if let ReturnType::Value { dtype } = self.prototype.returns
            && let Some(item) = self.tree.outputs.iter().find(|o| o.name == "return")
        {
            args.push(Arg { batched: item.batched, ..arg("return", Role::Return, dtype, Passing::Value) });
        }
        adapted::set_sizes(self.prototype, &mut args);
        args
    }

    fn arg(&mut self, param: &Param, mention: Mention) -> Option<Arg> {
        if adapted::is_size(param) {
            return Some(adapted::size(param));
        }
        let (dtype, passing) = match &param.ty {
            ParamType::Value { dtype } => (*dtype, Passing::Value),
            ParamType::Pointer { dtype, .. } => (*dtype, Passing::Pointer),
            ParamType::Unsupported => {
                self.problems.extend(unsupported(self.prototype, param));
                return None;
            }
        };
        let Some(role) = mention.role(param) else {
            return self.size(param, dtype, passing);
        };
        match passing {
            Passing::Value => self.value(param, mention, dtype),
            Passing::Pointer | Passing::Descriptor | Passing::Absent => self.pointer(param, mention),
        }
        let item = mention.input.or(mention.output).or(mention.scratch)?;
        self.problems.extend(adapted::misfit(param, item.dims.as_deref().unwrap_or_default()));
        let is_input = mention.input.is_some();
        Some(Arg {
            shape: item.dims.clone().unwrap_or_default(),
            constant: is_input && (item.constant || !dtype.is_float()),
            batched: item.batched,
            ..arg(&param.name, role, dtype, passing)
        })
    }

    /// A parameter that the signature does not mention must follow from the shapes.
    fn size(&mut self, param: &Param, dtype: DType, passing: Passing) -> Option<Arg> {
        let name = param.name.as_str();
        if self.prototype.is_optional(name) {
            return Some(arg(name, Role::Size, DType::I64, Passing::Absent));
        }
        let integer = is_integer(dtype);
        if integer && (self.symbols.contains_key(name) || self.sizes.contains_key(name)) {
            let shape = vec![Dim::Sym(name.to_owned())];
            return Some(Arg { shape, ..arg(name, Role::Size, dtype, passing) });
        }
        if let (Some(object), "return") = (adapted::object(param), name) {
            let wanted = spell(name, &adapted::example(object), false);
            let function = &self.prototype.function;
            self.problem(format!(
                "`{function}` returns a `{}`: name its shape right of `->`, as `{wanted}`",
                param.spelled
            ));
            return None;
        }
        let remedy = match (passing, integer) {
            (Passing::Value, true) => {
                format!("use it as a dimension, name it left of `->`, or give sizes={{\"{name}\": ...}}")
            }
            (Passing::Value, false) => "name it left of `->`".to_owned(),
            (Passing::Pointer | Passing::Descriptor | Passing::Absent, _) => {
                "name it left of `->` (input), right of it (output) or after `;` (scratch)".to_owned()
            }
        };
        self.problem(format!("`{name}` is never mentioned: {remedy}"));
        None
    }

    fn value(&mut self, param: &Param, mention: Mention, dtype: DType) {
        let Param { name, spelled, .. } = param;
        let bracketed = [mention.input, mention.output, mention.scratch]
            .into_iter()
            .flatten()
            .flat_map(|i| i.dims.iter().flatten())
            .next();
        if bracketed.is_some() {
            self.problem(format!(
                "`{name}` has dimensions, but it is one `{spelled}` by value: write it without \
                 brackets"
            ));
        }
        for (section, item) in [(Section::Outputs, mention.output), (Section::Scratch, mention.scratch)] {
            if item.is_some() {
                self.problem(format!(
                    "`{name}` stands {}, but it is passed by value, so that nothing can be \
                     written to it: move it left of `->`",
                    section.place()
                ));
            }
        }
        if mention.input.is_some() && is_integer(dtype) && self.symbols.contains_key(name.as_str()) {
            self.problem(format!(
                "`{name}` is an input and a dimension, which could contradict each other: leave it \
                 out left of `->` (it follows from the shapes), or rename the dimension"
            ));
        }
    }

    fn pointer(&mut self, param: &Param, mention: Mention) {
        let Param { name, spelled, access, .. } = param;
        let constant = matches!(param.ty, ParamType::Pointer { constant: true, .. });
        let Mention { input, output, scratch } = mention;
        if scratch.is_some() && (input.is_some() || output.is_some()) {
            self.problem(format!("`{name}` is scratch and also an input or output: mention it on one side of `;`"));
        }
        if let (Some(input), Some(output)) = (input, output) {
            self.in_place(input, output);
        }
        if (output.is_some() || scratch.is_some()) && constant {
            self.problem(format!("`{name}` is to be written, but it is a `{spelled}`: name it only left of `->`"));
        } else if output.is_some() && matches!(access, Some(Access::Read | Access::Unused)) {
            let function = &self.prototype.function;
            self.problem(format!(
                "`{name}` is an output, but `{function}` never writes to it: name it only left of \
                 `->`"
            ));
        }
        // In place it may be only written: a boundary condition keeps what it does not set.
        if input.is_some() && output.is_none() && *access == Some(Access::Write) && !constant {
            let function = &self.prototype.function;
            self.problem(format!("`{name}` is an input, but `{function}` only writes to it: move it right of `->`"));
        }
    }

    fn in_place(&mut self, input: &Item, output: &Item) {
        if input.dims != output.dims || input.batched != output.batched {
            self.problem(format!(
                "`{}` left of `->` is `{}` right of it: what is updated in place keeps its shape",
                spelled(input),
                spelled(output)
            ));
        }
        if input.constant {
            self.problem(format!(
                "`{0}` is updated in place, so that its result depends on it: leave out `const`",
                input.name
            ));
        }
    }

    /// Whether there is anything to differentiate.
    fn outputs(&mut self) {
        let function = &self.prototype.function;
        let is_other = |item: &Item| output_dtype(self.prototype, &item.name).is_some_and(|dtype| !dtype.is_float());
        let none_is_float = self.tree.outputs.iter().all(is_other);
        if self.tree.outputs.is_empty() {
            self.problem("there is nothing right of `->`: name the pointers that are results, or `return`".to_owned());
        } else if none_is_float {
            self.problem(format!(
                "no output of `{function}` is a floating-point number, so that it has no \
                 derivative: name one right of `->`"
            ));
        }
    }

    /// Whether the batch dimensions of inputs and outputs belong together.
    fn batch(&mut self) {
        let tree = self.tree;
        match tree.inputs.iter().find(|i| i.batched) {
            Some(input) => {
                let in_place = |o: &Item| tree.inputs.iter().any(|i| i.name == o.name);
                for output in tree.outputs.iter().filter(|o| !o.batched && !in_place(o)) {
                    let wanted = Item { batched: true, ..output.clone() };
                    self.problem(format!(
                        "`{}` is called for each element of the batch of `{}`, so that there are as many `{}`: \
                         write `{}`",
                        self.prototype.function,
                        spelled(input),
                        output.name,
                        spelled(&wanted)
                    ));
                }
            }
            None => {
                for output in tree.outputs.iter().filter(|o| o.batched) {
                    self.problem(format!(
                        "`{}` has batch dimensions, but no input has any: write `...` at the inputs that differ from \
                         element to element",
                        spelled(output)
                    ));
                }
            }
        }
    }

    /// Whether every symbol gets a value.
    fn symbols_bound(&mut self) {
        let known = bound(&self.tree.inputs, self.sizes);
        for (symbol, item) in self.symbols.clone() {
            if !known.contains(symbol) {
                self.problem(format!(
                    "`{symbol}` in `{}` follows from no input's shape: give sizes={{\"{symbol}\": \
                     ...}}, or use it alone as a dimension of an input",
                    spelled(item)
                ));
            }
        }
    }

    /// Whether symbols, sizes and divisors make sense by themselves.
    fn symbols_sane(&mut self) {
        for (symbol, item) in self.symbols.clone() {
            if let Some((_, param)) = self.prototype.param(symbol)
                && !integer_param(param)
            {
                self.problem(format!(
                    "`{symbol}` is a dimension of `{}`, but the parameter `{symbol}` is a `{}`: \
                     choose another name for the dimension",
                    spelled(item),
                    param.spelled
                ));
            }
        }
        for item in items(self.tree) {
            if item.dims.iter().flatten().any(divides_by_zero) {
                self.problem(format!("`{}` divides by zero: correct it", spelled(item)));
            }
        }
        for name in self.sizes.keys() {
            let integer = self.prototype.param(name).is_some_and(|(_, p)| integer_param(p));
            if !integer && !self.symbols.contains_key(name.as_str()) {
                let near = closest(name, self.symbols.keys().copied());
                self.problem(useless_size(name, &near));
            }
        }
    }
}

impl Mention<'_> {
    fn role(&self, param: &Param) -> Option<Role> {
        match (self.input, self.output, self.scratch) {
            (None, None, None) => None,
            (Some(_), Some(_), _) => Some(Role::InOut),
            // What the foreign code may write to must be a copy, though the caller wants no result.
            (Some(_), None, _) if may_be_written(param) => Some(Role::InOut),
            (Some(_), None, _) => Some(Role::Input),
            (None, Some(_), _) => Some(Role::Output),
            (None, None, Some(_)) => Some(Role::Scratch),
        }
    }
}

/// Whether values of this type can be numbers of elements.
pub(super) fn is_integer(dtype: DType) -> bool {
    !dtype.is_float() && dtype != DType::Bool
}

pub(super) fn integer_param(param: &Param) -> bool {
    match param.ty {
        ParamType::Value { dtype } | ParamType::Pointer { dtype, .. } => is_integer(dtype),
        ParamType::Unsupported => false,
    }
}

/// An argument without a shape.
pub(super) fn arg(name: &str, role: Role, dtype: DType, passing: Passing) -> Arg {
    let name = name.to_owned();
    Arg {
        name,
        role,
        dtype,
        passing,
        shape: Vec::new(),
        constant: false,
        flat: false,
        column_major: false,
        batched: false,
        text: None,
    }
}

fn output_dtype(prototype: &Prototype, name: &str) -> Option<DType> {
    if name == "return" && prototype.param(name).is_none() {
        return match prototype.returns {
            ReturnType::Value { dtype } => Some(dtype),
            _ => None,
        };
    }
    match prototype.param(name)?.1.ty {
        ParamType::Value { dtype } | ParamType::Pointer { dtype, .. } => Some(dtype),
        ParamType::Unsupported => None,
    }
}

fn spelled(item: &Item) -> String {
    spell(&item.name, item.dims.as_deref().unwrap_or_default(), item.batched)
}

fn finish(prototype: &Prototype, tree: &Tree, args: Vec<Arg>) -> CallPlan {
    let positions = |items: &[Item]| -> Vec<usize> {
        items.iter().filter_map(|i| args.iter().position(|a| a.name == i.name)).collect()
    };
    let (inputs, outputs) = (positions(&tree.inputs), positions(&tree.outputs));
    let used = args.last().is_some_and(|a| a.role == Role::Return);
    let drops_return = !used && prototype.returns != ReturnType::Void;
    let signature = normal_form(&args, &inputs, &outputs);
    CallPlan { args, inputs, outputs, drops_return, signature }
}

fn may_be_written(param: &Param) -> bool {
    matches!(param.ty, ParamType::Pointer { constant: false, .. })
        && matches!(param.access, Some(Access::ReadWrite) | None)
}
