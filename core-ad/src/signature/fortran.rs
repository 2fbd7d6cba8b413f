//! Signatures of Fortran procedures: completed from their declarations.
//!
//! A name without brackets has its declared shape, without a signature every name has. An integer that is a bound of an
//! input follows from that input's shape, as with `f2py`. Dimensions left open (`:`, `*`) are symbols of their own.
//! Names and symbols match in any case. The filled-in text is then judged like that of any other function.

use super::check;
use super::parser::{self, Item, Tree};
use super::symbols::{bound, unbound};
use crate::fortran::{Dummy, Extent, Procedure, open_symbol};
use crate::shapes::dims::{each_symbol, spell};
use crate::{Access, Arg, CallPlan, DType, Dim, Param, ParamType, Passing, Prototype, ReturnType, Role};
use std::collections::{BTreeMap, BTreeSet};

type Sizes = BTreeMap<String, i64>;

/// The plan of a procedure, with a signature or by its declarations.
pub(super) fn plan(
    prototype: &Prototype,
    procedure: &Procedure,
    text: Option<&str>,
    sizes: &Sizes,
) -> Result<CallPlan, Vec<String>> {
    let known = Known { prototype, procedure, sizes };
    let tree = match text {
        Some(text) => known.completed(parser::parse(text)?)?,
        None => known.default_tree()?,
    };
    check::plan(prototype, &tree, sizes).map(|plan| known.with_layout(plan))
}

/// The signature that the declarations amount to, where they leave no doubt or only that of open dimensions. An integer that bounds outputs
/// alone is no input of it: its value comes from `sizes`, as that of every symbol which no input's shape gives one.
pub(super) fn suggest(prototype: &Prototype, procedure: &Procedure, sizes: &Sizes) -> Option<String> {
    let guess = |sizes: &Sizes| Known { prototype, procedure, sizes }.guess(&mut Vec::new());
    let fits = |tree: &Tree, sizes: &Sizes| check::plan(prototype, tree, sizes).is_ok();
    let mut tree = guess(sizes);
    if !fits(&tree, sizes) {
        let mut all = sizes.clone();
        all.extend(unbound(&tree, sizes).into_iter().map(|symbol| (symbol, 1)));
        tree = guess(&all);
        if !fits(&tree, &all) {
            return None;
        }
    }
    let side = |items: &[Item]| {
        let spelled = items.iter().map(|i| spell(&i.name, i.dims.as_deref().unwrap_or_default(), i.batched));
        spelled.collect::<Vec<_>>().join(", ")
    };
    Some(format!("{} -> {}", side(&tree.inputs), side(&tree.outputs)).trim_start().to_owned())
}

struct Known<'a> {
    prototype: &'a Prototype,
    procedure: &'a Procedure,
    sizes: &'a Sizes,
}

impl Known<'_> {
    fn params(&self) -> impl Iterator<Item = (&Param, &Dummy)> {
        self.prototype.params.iter().zip(&self.procedure.dummies)
    }

    /// A user's signature in lower case, with declared shapes where it gives none.
    fn completed(&self, mut tree: Tree) -> Result<Tree, Vec<String>> {
        let mut problems = Vec::new();
        keep_shapes(&mut tree);
        for item in tree.inputs.iter_mut().chain(&mut tree.outputs).chain(&mut tree.scratch) {
            item.name = item.name.to_lowercase();
            item.dims = item.dims.take().map(|dims| dims.into_iter().map(lower).collect());
            self.name_of_result(item);
            let Some((position, _)) = self.prototype.param(&item.name) else { continue };
            let dummy = &self.procedure.dummies[position];
            match &item.dims {
                None => item.dims = self.declared(&item.name, dummy, &mut problems),
                Some(dims) => problems.extend(
                    wrong_rank(&item.name, dummy, dims.len()).or_else(|| wrong_extents(&item.name, dummy, dims)),
                ),
            }
        }
        self.drop_results(&mut tree);
        if problems.is_empty() { Ok(tree) } else { Err(problems) }
    }

    /// Scalars that are only written (`ierr`, `neval`) and that the signature does not name are results that nobody wants.
    fn drop_results(&self, tree: &mut Tree) {
        let named: BTreeSet<String> =
            tree.inputs.iter().chain(&tree.outputs).chain(&tree.scratch).map(|item| item.name.clone()).collect();
        for (param, dummy) in self.params() {
            let is_scalar = dummy.extents.is_empty() && !dummy.descriptor && !dummy.optional;
            let is_result = matches!(param.ty, ParamType::Pointer { .. }) && param.access == Some(Access::Write);
            if is_scalar && is_result && !named.contains(&param.name) {
                tree.scratch.push(Item { constant: false, batched: false, name: param.name.clone(), dims: None });
            }
        }
    }

    /// `return` and the result's own name mean the same.
    fn name_of_result(&self, item: &mut Item) {
        let Some(result) = &self.procedure.result else { return };
        let is_argument = self.prototype.param(result).is_some();
        if item.name == "return" && is_argument {
            item.name = result.clone();
        } else if item.name == *result && !is_argument {
            item.name = "return".to_owned();
        }
    }

    /// The declared dimensions; `None` for scalars.
    fn declared(&self, name: &str, dummy: &Dummy, problems: &mut Vec<String>) -> Option<Vec<Dim>> {
        let mut dims = Vec::new();
        for (i, extent) in dummy.extents.iter().enumerate() {
            dims.push(match extent {
                Extent::Known(dim) => {
                    if let Some(symbol) = self.foreign_symbol(dim) {
                        problems.push(format!(
                            "the bound `{symbol}` of `{name}` is no integer argument: give the shape in a signature, \
                             `{name}[...]`, or sizes={{\"{symbol}\": ...}}"
                        ));
                    }
                    dim.clone()
                }
                Extent::Open => Dim::Sym(open_symbol(name, i + 1)),
                Extent::Other(text) => {
                    problems.push(format!(
                        "the bounds `{text}` of `{name}` are more than `+ - * /` over arguments: give its shape in a \
                         signature, `{name}[...]`"
                    ));
                    Dim::Int(0)
                }
            });
        }
        (!dims.is_empty()).then_some(dims)
    }

    /// A symbol that neither an argument nor an open dimension of one gives a value to: a variable of a module.
    fn foreign_symbol(&self, dim: &Dim) -> Option<String> {
        let mut foreign = None;
        each_symbol(dim, &mut |symbol| {
            let is_argument = self.prototype.param(symbol).is_some_and(|(_, p)| check::integer_param(p));
            let is_open = self.params().any(|(p, d)| (1..=d.extents.len()).any(|i| open_symbol(&p.name, i) == symbol));
            if !is_argument && !is_open && !self.sizes.contains_key(symbol) {
                foreign = Some(symbol.to_owned());
            }
        });
        foreign
    }

    fn default_tree(&self) -> Result<Tree, Vec<String>> {
        let mut doubts = Vec::new();
        let tree = self.guess(&mut doubts);
        if doubts.is_empty() { Ok(tree) } else { Err(doubts) }
    }

    /// Every argument by its intent, or else by its use.
    fn guess(&self, doubts: &mut Vec<String>) -> Tree {
        let mut tree = Tree::default();
        for (param, dummy) in self.params().filter(|(_, d)| !d.optional) {
            if param.ty == ParamType::Unsupported {
                doubts.extend(super::unsupported(self.prototype, param));
                continue;
            }
            let dims = self.declared(&param.name, dummy, doubts);
            let item = Item { constant: false, batched: false, name: param.name.clone(), dims };
            let (read, written) = if param.text().is_some() { (true, false) } else { uses(param) };
            if read && !self.is_bound(param) {
                tree.inputs.push(item.clone());
            }
            if written {
                tree.outputs.push(item);
            }
        }
        if let ReturnType::Value { dtype } = self.prototype.returns
            && dtype.is_float()
        {
            tree.outputs.push(Item { constant: false, batched: false, name: "return".to_owned(), dims: None });
        }
        self.count_open(&mut tree);
        self.close_outputs(&mut tree, doubts);
        tree
    }

    /// Whether an integer scalar follows from the shape of an input, or from `sizes`.
    fn is_bound(&self, param: &Param) -> bool {
        if !check::integer_param(param) || !self.is_scalar(&param.name) {
            return false;
        }
        self.sizes.contains_key(&param.name) || self.bound_by_shapes().contains(&param.name)
    }

    fn is_scalar(&self, name: &str) -> bool {
        self.params().any(|(p, d)| p.name == name && d.extents.is_empty())
    }

    /// The symbols that the declared shapes of the inputs give a value to.
    fn bound_by_shapes(&self) -> BTreeSet<String> {
        let arrays: Vec<Item> = self
            .params()
            .filter(|(p, d)| !d.extents.is_empty() && uses(p).0 && !d.optional)
            .map(|(p, d)| Item {
                constant: false,
                batched: false,
                name: p.name.clone(),
                dims: self.declared(&p.name, d, &mut Vec::new()),
            })
            .collect();
        bound(&arrays, self.sizes).into_iter().map(str::to_owned).collect()
    }

    /// The old style `subroutine f(n, x)` with `x(*)`: where one integer is left, it counts the elements.
    fn count_open(&self, tree: &mut Tree) {
        let is_count = |item: &&Item| {
            let param = self.prototype.param(&item.name);
            item.dims.is_none() && param.is_some_and(|(_, p)| check::integer_param(p))
        };
        let counts: Vec<String> = tree.inputs.iter().filter(is_count).map(|i| i.name.clone()).collect();
        let is_open = |name: &str| {
            let dummy = self.prototype.param(name).map(|(i, _)| &self.procedure.dummies[i]);
            dummy.is_some_and(|d| !d.descriptor && d.extents == [Extent::Open])
        };
        let [count] = counts.as_slice() else { return };
        if !tree.inputs.iter().any(|i| is_open(&i.name)) {
            return;
        }
        tree.inputs.retain(|i| i.name != *count);
        for item in tree.inputs.iter_mut().chain(&mut tree.outputs).filter(|i| is_open(&i.name)) {
            item.dims = Some(vec![Dim::Sym(count.clone())]);
        }
    }

    /// Open dimensions of what is only written are those of the first input with as many.
    fn close_outputs(&self, tree: &mut Tree, doubts: &mut Vec<String>) {
        let inputs = tree.inputs.clone();
        for item in &mut tree.outputs {
            let Some((position, _)) = self.prototype.param(&item.name) else { continue };
            let extents = &self.procedure.dummies[position].extents;
            let is_input = inputs.iter().any(|i| i.name == item.name);
            let (Some(dims), true, false) = (&mut item.dims, extents.contains(&Extent::Open), is_input) else {
                continue;
            };
            let still_open = |i: usize, dim: &Dim| *dim == Dim::Sym(open_symbol(&item.name, i + 1));
            let like = inputs.iter().filter_map(|i| i.dims.as_ref()).find(|d| d.len() == dims.len());
            for (i, dim) in dims.iter_mut().enumerate() {
                if extents[i] != Extent::Open || !still_open(i, dim) {
                    continue;
                }
                match like {
                    Some(like) => *dim = like[i].clone(),
                    None => {
                        doubts.push(format!(
                            "the shape of the output `{}` follows from no declaration: give it in a signature",
                            item.name
                        ));
                        break;
                    }
                }
            }
        }
    }

    /// Marks how each argument is passed and its layout in memory, and adds the extents of descriptors.
    fn with_layout(&self, mut plan: CallPlan) -> CallPlan {
        let mut extents = self.lengths(&plan);
        for arg in plan.args.iter_mut().filter(|a| a.role != Role::Return) {
            arg.column_major = arg.shape.len() > 1 && arg.role != Role::Size;
            let Some((position, _)) = self.prototype.param(&arg.name) else { continue };
            if !self.procedure.dummies[position].descriptor || arg.passing == Passing::Absent {
                continue;
            }
            arg.passing = Passing::Descriptor;
            for (i, dim) in arg.shape.iter().enumerate() {
                let name = open_symbol(&arg.name, i + 1);
                let bare = check::arg(&name, Role::Size, DType::I64, Passing::Value);
                extents.push(Arg { shape: vec![dim.clone()], ..bare });
            }
        }
        plan.args.extend(extents);
        plan
    }

    /// The hidden arguments behind all others: the lengths of texts.
    fn lengths(&self, plan: &CallPlan) -> Vec<Arg> {
        let of = |(param, _): (&Param, &Dummy)| {
            param.text()?;
            let arg = plan.args.iter().find(|arg| arg.name == param.name)?;
            let length = arg.shape.first().filter(|_| arg.passing != Passing::Absent).cloned().unwrap_or(Dim::Int(0));
            let bare = check::arg(&format!("{}.length", param.name), Role::Size, DType::I64, Passing::Value);
            Some(Arg { shape: vec![length], ..bare })
        };
        self.params().filter_map(of).collect()
    }
}

/// What is updated in place has the shape that the signature gives it on the left.
fn keep_shapes(tree: &mut Tree) {
    for output in tree.outputs.iter_mut().filter(|output| output.dims.is_none()) {
        if let Some(input) = tree.inputs.iter().find(|input| input.name.eq_ignore_ascii_case(&output.name)) {
            (output.dims, output.batched) = (input.dims.clone(), input.batched);
        }
    }
}

/// Whether the procedure reads what the caller puts there, and whether it writes.
fn uses(param: &Param) -> (bool, bool) {
    match (&param.ty, param.access) {
        (ParamType::Value { .. }, _) | (_, Some(Access::Read | Access::Unused)) => (true, false),
        (_, Some(Access::Write)) => (false, true),
        (_, Some(Access::ReadWrite) | None) => (true, true),
    }
}

fn wrong_rank(name: &str, dummy: &Dummy, given: usize) -> Option<String> {
    let declared = dummy.extents.len();
    // Memory without a descriptor may be seen with any rank; a descriptor states one.
    let fits = given == declared || (!dummy.descriptor && declared > 0);
    let is = if declared == 0 { "is a scalar".to_owned() } else { format!("has {declared} dimensions in the source") };
    (!fits).then(|| format!("`{name}` has {given} dimensions in the signature, but it {is}: give it as declared"))
}

/// Dimensions that contradict those of the source: another constant where it decides where elements lie, a last one that is too small, or the
/// same ones in another order. A constant 1 is how old code says that it does not know.
fn wrong_extents(name: &str, dummy: &Dummy, dims: &[Dim]) -> Option<String> {
    let known: Option<Vec<&Dim>> = dummy
        .extents
        .iter()
        .map(|extent| match extent {
            Extent::Known(dim) => Some(dim),
            Extent::Open | Extent::Other(_) => None,
        })
        .collect();
    let declared = known.filter(|known| !dummy.descriptor && known.len() == dims.len())?;
    let is_last = |i: usize| i + 1 == dims.len();
    let contradicts = declared.iter().zip(dims).enumerate().any(|(i, pair)| match pair {
        (Dim::Int(declared), Dim::Int(given)) if is_last(i) => given < declared,
        (Dim::Int(declared), Dim::Int(given)) => *declared != 1 && given != declared,
        _ => false,
    });
    let texts = |dims: Vec<&Dim>| dims.into_iter().map(Dim::to_string).collect::<Vec<_>>();
    let (source, given) = (texts(declared), texts(dims.iter().collect()));
    let sorted = |texts: &[String]| {
        let mut texts = texts.to_vec();
        texts.sort();
        texts
    };
    let is_permuted = source != given && sorted(&source) == sorted(&given);
    (contradicts || is_permuted).then(|| {
        let (source, given) = (source.join(","), spell(name, dims, false));
        format!("`{name}` is `{name}({source})` in the source, but `{given}` in the signature: give it as declared")
    })
}

fn lower(dim: Dim) -> Dim {
    let both = |a: Box<Dim>, b: Box<Dim>| (Box::new(lower(*a)), Box::new(lower(*b)));
    match dim {
        Dim::Int(number) => Dim::Int(number),
        Dim::Sym(name) => Dim::Sym(name.to_lowercase()),
        Dim::Add(a, b) => {
            let (a, b) = both(a, b);
            Dim::Add(a, b)
        }
        Dim::Sub(a, b) => {
            let (a, b) = both(a, b);
            Dim::Sub(a, b)
        }
        Dim::Mul(a, b) => {
            let (a, b) = both(a, b);
            Dim::Mul(a, b)
        }
        Dim::FloorDiv(a, b) => {
            let (a, b) = both(a, b);
            Dim::FloorDiv(a, b)
        }
    }
}
